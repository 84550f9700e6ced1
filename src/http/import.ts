import { z } from "@hono/zod-openapi";
import { importLineSchema } from "../import/import-line.js";
import { AppError } from "../platform/errors.js";
import type { Imports } from "../ports/application.js";
import { importResultSchema } from "../ports/resources.js";
import { chunksOf, limited, refuseDeclaredLength } from "./body.js";
import { flagQuery } from "./fields.js";
import { OF_MEMORIES } from "./problem.js";
import { type ApiApp, answer, answers, newApi, routesOf } from "./routes.js";

export const IMPORT_PATH = "/v1/import";
export const MAX_IMPORT_BYTES = 64 * 1024 * 1024;

const FORMATS: Readonly<Record<string, "ndjson" | "export">> = { "application/x-ndjson": "ndjson", "application/json": "export" };

/** A line of the body, as the API describes it. */
export const importedMessageSchema = z
  .object({ ...importLineSchema.shape, metadata: z.looseObject({}).optional() })
  .openapi("ImportedMessage");

const route = routesOf("History")("post", IMPORT_PATH, "importHistory", {
  summary: "Take conversations in: JSON lines, or the JSON of an export; at most 64 MiB",
  request: {
    query: z.strictObject({ extract: flagQuery }),
    // The body is streamed, and the import checks it line by line: these only tell.
    body: {
      required: true,
      content: {
        "application/json": { schema: { $ref: "#/components/schemas/Export" } },
        "application/x-ndjson": {
          schema: {
            type: "string",
            description:
              "A message a line, in order. A `created_at` that has not come yet is taken as now; over 24 hours ahead of the server's " +
              "clock it is refused.",
            contentMediaType: "application/x-ndjson",
            contentSchema: { type: "array", items: { $ref: "#/components/schemas/ImportedMessage" } },
          } as object,
        },
      },
    },
  },
  responses: answers(
    importResultSchema,
    "What was taken in; it can be searched now. The same again is taken in once: it is `skipped_duplicates`.",
  ),
  fails: [
    ...OF_MEMORIES,
    "INVALID_IMPORT",
    "INVALID_IMAGE",
    "SESSION_HAS_LIVE_TURNS",
    "RECORD_TOO_LARGE",
    "HISTORY_UNAVAILABLE",
    "MODEL_UNAVAILABLE",
  ],
});

export function importRoutes(imports: Imports): ApiApp {
  const api = newApi();
  api.openapi(route, async (c) => {
    const format = FORMATS[(c.req.header("Content-Type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? ""];
    if (!format) throw new AppError("UNSUPPORTED_MEDIA_TYPE", { hint: `Send ${Object.keys(FORMATS).join(" or ")}.` });
    refuseDeclaredLength(c.req.header("Content-Length"), MAX_IMPORT_BYTES);
    const result = await imports.import(c.get("owner"), limited(chunksOf(c.req.raw), MAX_IMPORT_BYTES), {
      format,
      extract: c.req.valid("query").extract ?? false,
      signal: c.req.raw.signal,
    });
    return answer(c, importResultSchema, result);
  });
  return api;
}
