import { type Maitred, serverPartsOf } from "../library/library.js";
import { createHttpApp } from "./app.js";
import { type Identify, ownAuth } from "./auth.js";
import { checkedBasePath } from "./base-path.js";
import type { HttpLimits } from "./streams.js";

export type { IdentifiedUser, Identify } from "./auth.js";
export type { HttpLimits } from "./streams.js";

/** How the API stands in an application. */
export interface AppOptions {
  /** Below which path: `/maitred`. Requests must arrive with their whole path. Default: none, at the root. */
  readonly basePath?: string;
  /**
   * Tells who a request comes from, by the application's own sign-in; null: nobody, answered with 401. What it throws is answered with
   * 500. Default: by `authMode`, which without one is `local`: loopback alone.
   */
  readonly identify?: Identify;
  /** Of streams. Default: as each says. */
  readonly limits?: HttpLimits;
}

/** The API and the chat page as one function. */
export interface MaitredApp {
  /** `env`: what `@hono/node-server` gives, where it is in between. Never rejects for what a request holds. */
  readonly fetch: (request: Request, env?: object) => Promise<Response>;
}

/**
 * The HTTP API and the chat page over a Maitred of one's own, for whatever serves `Request` and `Response`: Hono, Next.js, or Express
 * through `getRequestListener` of `@hono/node-server`. It ends with the Maitred that it stands on.
 * @throws INVALID_CONFIG for a base path that is none, and for keys of `authMode` that can't be read
 *
 * @example
 * const app = await createApp(maitred, { basePath: "/maitred", identify: async (request) => userOf(await sessionOf(request)) });
 * hono.all("/maitred/*", (c) => app.fetch(c.req.raw));
 */
export async function createApp(maitred: Maitred, options: AppOptions = {}): Promise<MaitredApp> {
  const { config, logger, clock, limiter, metrics, operator } = serverPartsOf(maitred);
  const { identify, basePath = "", limits } = options;
  const authenticator = identify && ownAuth(identify, { allowedOrigins: config.CORS_ORIGINS });
  const app = await createHttpApp(
    {
      application: maitred,
      // Somebody in front has signed the user in.
      config: identify ? { ...config, AUTH_MODE: "header" } : config,
      logger,
      clock,
      limiter,
      metrics,
      operator,
      authenticator,
      basePath: checkedBasePath(basePath),
    },
    limits,
  );
  return { fetch: async (request, env) => app.fetch(request, env) };
}
