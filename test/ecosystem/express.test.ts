import type { RequestListener, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { expect, test } from "vitest";
import { createApp } from "../../src/http.js";
import { createMaitred } from "../../src/index.js";
import { loadFromEcosystem } from "../support/ecosystem.js";
import { needing } from "../support/needing.js";

interface Express {
  all(path: string, listener: RequestListener): Express;
  use(listener: RequestListener): Express;
  listen(port: number, host: string, done: () => void): Server;
}

needing("ecosystem")("Express with Maitred below a path", () => {
  test("the path is Maitred's, its body unread; the rest is Express's", async () => {
    const express = (await loadFromEcosystem("express")) as { default: { (): Express; json(): RequestListener } };
    const maitred = await createMaitred({ shortTermBackend: "memory", embeddingProvider: "hashing" });
    const { fetch: answer } = await createApp(maitred, { basePath: "/maitred", identify: () => ({ user: "ada" }) });
    const app = express.default().all("/maitred{/*path}", getRequestListener(answer, { overrideGlobalObjects: false }));
    app.use(express.default.json()).all("/ours", (_request, response) => response.end("ours"));
    const server = await new Promise<Server>((resolve) => {
      const listening = app.listen(0, "127.0.0.1", () => resolve(listening));
    });
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const said = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ message: "Good evening." }) };
      expect(await (await fetch(`${url}/maitred/v1/chat`, said)).json()).toMatchObject({ turn: 1 });
      expect((await fetch(`${url}/maitred`)).status).toBe(200);
      expect(await (await fetch(`${url}/ours`, said)).text()).toBe("ours");
    } finally {
      server.close();
      server.closeAllConnections();
      await maitred.close();
    }
  });
});
