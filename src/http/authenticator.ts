import type { Identity } from "./http-env.js";

/** What an authenticator may look at. */
export interface Credentials {
  readonly method: string;
  readonly url: string;
  header(name: string): string | undefined;
  /** As it came. */
  readonly request: Request;
}

/** One way to know who the user is. */
export interface Authenticator {
  /** What a 401's `WWW-Authenticate` says. */
  readonly challenge: string;
  /**
   * Refuses requests that a foreign page or host name may have caused; runs on every path, before anything else.
   * @throws FORBIDDEN_ORIGIN
   */
  guard(request: Credentials): void;
  /** @throws UNAUTHENTICATED, INVALID_USER_ID, IDENTITY_UNAVAILABLE */
  identify(request: Credentials): Identity | Promise<Identity>;
  /**
   * The tenant of a trusted backend, which speaks for itself and no user; null: these credentials are some user's. Default: there is no
   * such backend. @throws UNAUTHENTICATED
   */
  backend?(request: Credentials): string | null;
}
