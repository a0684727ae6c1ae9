/** Tokens between runs, in files that their owner alone may read: one for each agent, so that programs side by side lose none. */
import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { AdbindError } from "../../errors.js";
import type { OAuthTokens, TokenStore } from "./types.js";

const [FOLDER_MODE, FILE_MODE] = [0o700, 0o600];

/** A file that is none of ours, or cut short, is as good as none: a token is got anew. */
function tokensIn(text: string): OAuthTokens | undefined {
  try {
    const { accessToken, refreshToken, issuer, expiresAt } = JSON.parse(text) as Partial<OAuthTokens>;
    if (typeof accessToken !== "string" || typeof issuer !== "string") return undefined;
    return {
      accessToken,
      issuer,
      ...(typeof refreshToken === "string" && { refreshToken }),
      ...(typeof expiresAt === "number" && { expiresAt }),
    };
  } catch {
    return undefined;
  }
}

const isMissing = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "ENOENT";

/**
 * Keeps OAuth tokens in a folder, for `auth: { oauth: { tokens: fileTokens(folder) } }`.
 * @param folder made when the first token is kept
 * @throws AdbindError `file_unusable`, of its methods, where a file can be neither read nor written
 */
export function fileTokens(folder: string): TokenStore {
  const fileOf = (agentUrl: string): string =>
    path.join(folder, `${createHash("sha256").update(agentUrl).digest("hex").slice(0, 32)}.json`);
  const unusable = (where: string, cause: unknown): AdbindError =>
    new AdbindError("file_unusable", "the tokens of an agent cannot be kept", {
      ...{ where, cause },
      remedy: "give a folder that you may write to",
    });
  return {
    async get(agentUrl) {
      const file = fileOf(agentUrl);
      const text = await readFile(file, "utf8").catch((error: unknown) => {
        if (isMissing(error)) return "";
        throw unusable(file, error);
      });
      return tokensIn(text);
    },
    async set(agentUrl, tokens) {
      const file = fileOf(agentUrl);
      const fresh = `${file}.${randomUUID()}`;
      try {
        if (tokens === undefined) return await rm(file, { force: true });
        await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
        // Whoever reads meanwhile has the whole of the old ones, or the whole of the new.
        await writeFile(fresh, `${JSON.stringify({ agentUrl, ...tokens })}\n`, { mode: FILE_MODE, flag: "wx" });
        await rename(fresh, file);
      } catch (error) {
        await rm(fresh, { force: true }).catch(() => undefined);
        throw unusable(file, error);
      }
    },
  };
}
