import { createHmac, timingSafeEqual } from "node:crypto";
import { parse } from "hono/utils/cookie";
import type { Clock } from "../platform/clock.js";
import { AppError } from "../platform/errors.js";
import { type Credentials, isOwnOrigin, sharedSecret } from "./authenticator.js";
import type { OperatorConfig, OperatorSession } from "./operator-door.js";

export const STUDIO_COOKIE = "maitred_studio";
/** How long a session of Studio lasts, in seconds. */
export const STUDIO_SESSION_SECONDS = 8 * 60 * 60;

const VALUE = /^(\d{1,12})\.([A-Za-z0-9_-]{43})$/;

/**
 * Sessions of Studio that nobody has to keep: when one ends, and an HMAC of that under the operator's token. All replicas with the token
 * know them; another token ends them all.
 */
export interface StudioDoor {
  /** For the operator's token the value of a new session's cookie, good for {@link STUDIO_SESSION_SECONDS}. @throws UNAUTHENTICATED */
  signIn(token: string): string;
  /**
   * Whether a request has the cookie of a session. Cookies travel with requests that other pages make: what may change something has to
   * name this server's own page. @throws FORBIDDEN_ORIGIN
   */
  readonly admits: OperatorSession;
}

/** Null without OPERATOR_TOKEN. */
export function studioDoor({ OPERATOR_TOKEN }: OperatorConfig, clock: Clock): StudioDoor | null {
  if (OPERATOR_TOKEN === undefined) return null;
  const token = sharedSecret(OPERATOR_TOKEN);
  const sessions = sessionsUnder(OPERATOR_TOKEN, clock);
  return {
    signIn: (given) => {
      if (token.heldBy(`Bearer ${given}`)) return sessions.begin();
      throw new AppError("UNAUTHENTICATED", { detail: "That is not the operator's token.", hint: "Give OPERATOR_TOKEN as it is set." });
    },
    admits: (request) => {
      const cookies = request.header("Cookie");
      // Who sends other credentials is judged by those.
      if (cookies === undefined || request.header("Authorization") !== undefined) return false;
      if (!sessions.holds(parse(cookies, STUDIO_COOKIE)[STUDIO_COOKIE])) return false;
      if (request.method !== "GET" && request.method !== "HEAD") requireOwnOrigin(request);
      return true;
    },
  };
}

/** `holds`: whether it was given out under this token, and has not ended; it takes as long for a wrong one as for a right one. */
function sessionsUnder(token: string, clock: Clock) {
  const now = () => Math.floor(clock.now().getTime() / 1000);
  const macOf = (ends: string) => createHmac("sha256", token).update(`maitred studio session, until ${ends}`).digest();
  return {
    begin: (): string => {
      const ends = String(now() + STUDIO_SESSION_SECONDS);
      return `${ends}.${macOf(ends).toString("base64url")}`;
    },
    holds: (value: string | undefined): boolean => {
      const [, ends, mac] = VALUE.exec(value ?? "") ?? [];
      if (ends === undefined || mac === undefined) return false;
      return timingSafeEqual(Buffer.from(mac, "base64url"), macOf(ends)) && Number(ends) > now();
    },
  };
}

/** @throws FORBIDDEN_ORIGIN */
export function requireOwnOrigin(request: Pick<Credentials, "header" | "url">): void {
  const origin = request.header("Origin");
  if (origin !== undefined && isOwnOrigin(origin, request)) return;
  throw new AppError("FORBIDDEN_ORIGIN", { detail: "This has to come from the server's own page." });
}
