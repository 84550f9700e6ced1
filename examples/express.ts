/**
 * The API and the chat page inside a server that you have already, below a path of it: here Node's own, and in a comment Express.
 * `npx tsx examples/express.ts` answers on http://127.0.0.1:8080/maitred until Ctrl+C; PORT is another port, 0 a free one.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { createMaitred } from "maitred";
import { createApp } from "maitred/http";

const maitred = await createMaitred({ shortTermBackend: "memory" });
const app = await createApp(maitred, {
  basePath: "/maitred",
  // Who it is, your sign-in knows: a session's cookie, a token. Null is answered with 401.
  identify: (request) => {
    const user = /(?:^|; )user=([\w-]{1,64})/.exec(request.headers.get("Cookie") ?? "")?.[1];
    return user === undefined ? null : { user, tenant: "hotel-lindenhof" };
  },
});
const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false });

// With Express, before express.json(), which would read the body away:
//   const server = express().all("/maitred{/*path}", answer).get("/", home).listen(port);
const server = createServer((request, response) => {
  if (request.url?.startsWith("/maitred")) return void answer(request, response);
  // What stands here for a sign-in: whoever opens the page is Ada.
  response.writeHead(302, { "Set-Cookie": "user=ada; HttpOnly; SameSite=Lax; Path=/", Location: "/maitred" }).end();
});
server.listen(Number(process.env.PORT ?? 8080), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
});

process.once("SIGINT", () => {
  server.close();
  server.closeIdleConnections();
  void maitred.close();
});
