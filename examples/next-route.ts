/**
 * A Next.js route handler: put it into `app/maitred/[...path]/route.ts`, with `serverExternalPackages: ["maitred"]` in `next.config.ts`.
 * Everything of the API is then below `/maitred`: `POST /maitred/v1/chat`, `/maitred/openapi.json`. A server that stays up is needed, as
 * the write-back goes on behind the answer; not the edge runtime.
 */
import { createMaitred } from "maitred";
import { createApp, type MaitredApp } from "maitred/http";

export const runtime = "nodejs";
export const dynamic = "force-dynamic";

/** Once for the process: in development the module is loaded again with each change, and the storage directory is one process's. */
const shared = globalThis as typeof globalThis & { maitredApp?: Promise<MaitredApp> };

async function open(): Promise<MaitredApp> {
  const maitred = await createMaitred({ env: process.env });
  return createApp(maitred, { basePath: "/maitred", identify: userOf });
}

/** By your own sign-in: `auth()` of Auth.js, `getSession(request.headers)` of Better Auth. Null is answered with 401. */
async function userOf(request: Request) {
  const user = request.headers.get("X-Signed-In-User");
  return user === null ? null : { user };
}

async function handle(request: Request): Promise<Response> {
  shared.maitredApp ??= open();
  return (await shared.maitredApp).fetch(request);
}

export { handle as DELETE, handle as GET, handle as PATCH, handle as POST };
