import type { Routes } from "../../handler.js";
import { serveHosted } from "./hosted.js";

export const routes: Routes = (app, shelf) => serveHosted(app, shelf);
