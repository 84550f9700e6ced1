import type { MiddlewareHandler } from "hono";
import { secureHeaders } from "hono/secure-headers";

const POLICY = "Content-Security-Policy";

/** A page's own files and this server's answers, its images from `images`, and what `more` says. */
export function ownFilesAlone(images: string, ...more: readonly string[]): string {
  return [
    ...["default-src 'none'", "script-src 'self'", "style-src 'self'", `img-src ${images}`, "connect-src 'self'"],
    ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", ...more],
  ].join("; ");
}

const PAGE_POLICY = ownFilesAlone(
  "'self' data:",
  ...["font-src 'self'", "manifest-src 'self'", "require-trusted-types-for 'script'", "trusted-types dompurify"],
);

/**
 * The page may load its own files and nothing else: no inline script, no foreign image (an image's address could carry words away),
 * no markup that wasn't sanitised (Trusted Types). A route's own policy stands. HSTS only where TLS may stand in front.
 */
export function securityHeaders(options: { readonly hsts: boolean }): MiddlewareHandler {
  const secure = secureHeaders({
    strictTransportSecurity: options.hsts ? "max-age=31536000; includeSubDomains" : false,
    referrerPolicy: "no-referrer",
    xFrameOptions: "DENY",
    crossOriginResourcePolicy: "same-origin",
    permissionsPolicy: { camera: [], microphone: [], geolocation: [] },
  });
  return (c, next) =>
    secure(c, async () => {
      await next();
      if (!c.res.headers.has(POLICY)) c.res.headers.set(POLICY, PAGE_POLICY);
    });
}
