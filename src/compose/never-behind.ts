import type { SessionsBehind } from "../ports/session-writer.js";

/** For a store that writes journals and index at once: no session is ever behind. */
export const NEVER_BEHIND: SessionsBehind = {
  count: 0,
  owners: [],
  level: async () => {},
  lags: async () => false,
  requireLevel: async () => {},
  findIdempotent: async () => null,
};
