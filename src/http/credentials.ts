import { AppError } from "../platform/errors.js";
import type { Credentials } from "./authenticator.js";

/** The token of `Authorization: Bearer …`. @throws UNAUTHENTICATED */
export function bearerToken(authorization: string | undefined): string {
  const match = /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(authorization ?? "");
  if (match?.[1] === undefined) throw new AppError("UNAUTHENTICATED", { detail: "There is no bearer token." });
  return match[1];
}

/**
 * A header's value as text. HTTP hands bytes over as Latin-1; where they are UTF-8, that is what was meant,
 * so that a user's name is the same in a header and in a token.
 */
export function headerText(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is that of one byte
  if (!/^[\u0000-\u00ff]*[\u0080-\u00ff][\u0000-\u00ff]*$/.test(value)) return value;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(value, "latin1"));
  } catch {
    return value;
  }
}

/**
 * Whether a page of this server made the request, by the host that the browser asked for, which a proxy may hand on under another name.
 * A page can't set either header.
 */
export function isOwnOrigin(origin: string, request: Pick<Credentials, "header" | "url">): boolean {
  const hosts = [request.header("Host") ?? new URL(request.url).host, request.header("X-Forwarded-Host")];
  return hosts.some((host) => host !== undefined && (origin === `https://${host}` || origin === `http://${host}`));
}
