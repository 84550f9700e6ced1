import { DEFAULT_TENANT, ownerOf } from "../domain/owner.js";
import { AppError } from "../platform/errors.js";
import { headerAuth } from "./auth-header.js";
import type { Authenticator } from "./authenticator.js";

/** Who a request comes from, as the application around Maitred knows it. */
export interface IdentifiedUser {
  /** 1 to 256 characters without white space or control characters. */
  readonly user: string;
  /** Default: `default`. */
  readonly tenant?: string | undefined;
  /** For the page. */
  readonly displayName?: string | undefined;
  /** IANA name. Default: what the client says. */
  readonly timeZone?: string | undefined;
}

export type Identify = (request: Request) => IdentifiedUser | null | Promise<IdentifiedUser | null>;

/**
 * By a function of the application's. Its cookies travel with requests of foreign pages too: unsafe ones are refused, as in `header`
 * mode.
 */
export function ownAuth(identify: Identify, options: { readonly allowedOrigins: readonly string[] }): Authenticator {
  const { guard } = headerAuth({ header: "", ...options });
  return {
    challenge: 'Application realm="maitred"',
    guard,
    async identify({ request }) {
      const found = await identify(request);
      if (found === null) throw new AppError("UNAUTHENTICATED", { hint: "Sign in, and send the request again." });
      const { user, tenant = DEFAULT_TENANT, displayName, timeZone } = found;
      return { owner: ownerOf(tenant, user), ...(displayName && { displayName }), ...(timeZone && { timeZone }) };
    },
  };
}
