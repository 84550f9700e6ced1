import type { MiddlewareHandler } from "hono";
import { getPath } from "hono/utils/url";
import { AppError } from "../platform/errors.js";

/** No route has it. */
const OUTSIDE = "//";

/** Without a slash at its end; empty for none. @throws INVALID_CONFIG */
export function checkedBasePath(path: string): string {
  const plain = path.replace(/\/$/, "");
  if (/^(\/[A-Za-z0-9._~-]+)*$/.test(plain)) return plain;
  throw new AppError("INVALID_CONFIG", {
    detail: 'basePath: it begins with "/" and is made of letters, digits and "-._~", such as "/maitred".',
  });
}

/** The path of a request as the routes know it. */
export function pathBelow(basePath: string): (request: Request) => string {
  return (request) => {
    const path = getPath(request);
    if (path === basePath) return "/";
    return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : OUTSIDE;
  };
}

/** Answers name places as the client reaches them. */
export function locationsBelow(basePath: string): MiddlewareHandler {
  return async (c, next) => {
    await next();
    const location = c.res.headers.get("Location");
    if (basePath !== "" && location?.startsWith("/")) c.header("Location", `${basePath}${location}`);
  };
}
