import { validatePropertyDelivery as validate } from "../domain/properties/delivery.js";
import type { Handler } from "../handler.js";

/** Tells whether delivery kept to a list. */
export const validatePropertyDelivery: Handler<"validate_property_delivery"> = (request, call) =>
  call.answer(validate(call, request));
