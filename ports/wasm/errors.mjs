// Errors in the library's form.
import { constants } from "./declarations.mjs";

const STATUSES = Object.entries(constants).filter(([name]) => name.startsWith("FOVEA_E_"));
const NAMES = new Map(STATUSES.map(([name, status]) => [status, name]));

export const statusName = (status) => NAMES.get(status) ?? `status ${status}`;

/** An error of the library, or of this package. */
export class FoveaError extends Error {
  constructor(text, status = constants.FOVEA_E_ARGUMENT, fields = {}) {
    super(text, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.name = "FoveaError";
    this.status = status;
    this.statusName = statusName(status);
    this.expected = fields.expected ?? 0;
    this.found = fields.found ?? 0;
    this.index = fields.index ?? 0;
  }
}

/** Reports an error that only JavaScript can see, in the library's form. */
export function refuse(text, status = constants.FOVEA_E_ARGUMENT, cause = undefined) {
  throw new FoveaError(`${text} (${statusName(status)})`, status, { cause });
}
