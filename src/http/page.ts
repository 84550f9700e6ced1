import { Hono } from "hono";
import { compress } from "hono/compress";
import { AppError } from "../platform/errors.js";
import { FOR_EVER, loadedOnce, loadPageAssets } from "./assets.js";
import type { HttpEnv } from "./http-env.js";

/** The chat page at `/`, and its files under an address that is theirs for ever. */
export function pageRoutes(basePath: string): Hono<HttpEnv> {
  const page = new Hono<HttpEnv>();
  const loaded = loadedOnce(() => loadPageAssets("page", basePath));
  page.get("/", async (c) =>
    c.body((await loaded()).page, 200, { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache" }),
  );
  page.use("/assets/*", compress());
  page.get("/assets/:version/:name", async (c) => {
    const { files, version } = await loaded();
    const asset = c.req.param("version") === version ? files.get(c.req.param("name")) : undefined;
    if (!asset) throw new AppError("NOT_FOUND");
    return c.body(asset.body, 200, { "Content-Type": asset.type, "Cache-Control": FOR_EVER });
  });
  return page;
}
