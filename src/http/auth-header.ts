import { DEFAULT_TENANT, ownerOf, plainUser } from "../domain/owner.js";
import { AppError } from "../platform/errors.js";
import { type Authenticator, headerText, isOwnOrigin } from "./authenticator.js";

const AZURE_PREFIX = /^(X-MS-CLIENT-PRINCIPAL)-ID$/i;

/**
 * A trusted proxy has signed the user in and names them in a header, which it must strip from what clients send.
 * Its cookies travel with requests of foreign pages too, so unsafe ones of those are refused.
 */
export function headerAuth(options: { readonly header: string; readonly allowedOrigins: readonly string[] }): Authenticator {
  const azure = AZURE_PREFIX.exec(options.header)?.[1];
  return {
    challenge: `Proxy realm="maitred", header="${options.header}"`,
    guard(request) {
      if (request.method === "GET" || request.method === "HEAD" || request.method === "OPTIONS") return;
      const origin = request.header("Origin");
      if (origin !== undefined && options.allowedOrigins.includes(origin)) return;
      const site = request.header("Sec-Fetch-Site");
      // Older browsers name the page alone.
      const foreign =
        site === undefined ? origin !== undefined && !isOwnOrigin(origin, request) : site !== "same-origin" && site !== "none";
      if (foreign) throw new AppError("FORBIDDEN_ORIGIN", { detail: "Another site made this request." });
    },
    identify(request) {
      const user = request.header(options.header);
      if (user === undefined || user.trim() === "")
        throw new AppError("UNAUTHENTICATED", { detail: `The header ${options.header} is missing.` });
      const name = azure && request.header(`${azure}-NAME`);
      const provider = azure && request.header(`${azure}-IDP`);
      return {
        owner: ownerOf(DEFAULT_TENANT, plainUser(headerText(user))),
        ...(name ? { displayName: headerText(name) } : {}),
        ...(provider ? { provider: headerText(provider) } : {}),
      };
    },
  };
}
