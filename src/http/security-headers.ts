import type { MiddlewareHandler } from "hono";
import { secureHeaders } from "hono/secure-headers";

/**
 * The page may load its own files and nothing else: no inline script, no foreign image (an image's address could carry words away),
 * no markup that wasn't sanitised (Trusted Types). A route's own policy stands. HSTS only where TLS may stand in front.
 */
export function securityHeaders(options: { readonly hsts: boolean }): MiddlewareHandler {
  const secure = secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'", "data:"],
      connectSrc: ["'self'"],
      fontSrc: ["'self'"],
      manifestSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'self'"],
      frameAncestors: ["'none'"],
      requireTrustedTypesFor: ["'script'"],
      trustedTypes: ["dompurify"],
    },
    strictTransportSecurity: options.hsts ? "max-age=31536000; includeSubDomains" : false,
    referrerPolicy: "no-referrer",
    xFrameOptions: "DENY",
    crossOriginResourcePolicy: "same-origin",
    permissionsPolicy: { camera: [], microphone: [], geolocation: [] },
  });
  return async (c, next) => {
    let own: string | null = null;
    await secure(c, async () => {
      await next();
      own = c.res.headers.get("Content-Security-Policy");
    });
    if (own !== null) c.res.headers.set("Content-Security-Policy", own);
  };
}
