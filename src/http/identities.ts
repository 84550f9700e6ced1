import { z } from "@hono/zod-openapi";
import { AppError } from "../platform/errors.js";
import { type Identities, mergeSchema } from "../ports/identities.js";
import { idempotencyHeader } from "./chat.js";
import { fieldsOf } from "./fields.js";
import { type ApiApp, answer, answers, body, newApi, routesOf } from "./routes.js";

const route = routesOf("Identities");
/** With the prefix that a header may have, too. */
const MAX_USER_CHARS = 261;
/** A UUID, and who it is about in base64url. */
const MAX_MERGE_ID_CHARS = 4_096;

const userField = z.string().min(1).max(MAX_USER_CHARS);
const mergeBody = fieldsOf({
  from: userField.openapi({ description: "The user that a visitor was known as." }),
  to: userField.openapi({ description: "The user that they turned out to be, of the same tenant." }),
}).openapi("NewMerge");

const idParam = z.object({
  id: z
    .string()
    .max(MAX_MERGE_ID_CHARS)
    .openapi({ param: { name: "id", in: "path" } }),
});

const description = "For a trusted backend: an API key without a user.";
const KEY_WARNING =
  "While the merge stands, `from` is a key to all that is `to`'s: whoever is still known by it reads and writes it, and may erase it. " +
  "Give the visitor's id up as they sign in, and a new one to whoever comes next at the same device.";
const AGAIN = "Answered when it is done. The same `from` and `to` again are answered with the same merge.";
const fails = ["NOT_FOUND"] as const;
const routes = {
  merge: route("post", "/v1/identities/merge", "mergeIdentities", {
    summary: "Make a visitor's sessions, memories, history and bookings a known user's",
    description: `${description} ${AGAIN} ${KEY_WARNING}`,
    request: { headers: idempotencyHeader, body: body(mergeBody) },
    responses: answers(mergeSchema, "The merge: `from` is taken for `to` from now on.", 202),
    fails: [...fails, "SAME_IDENTITY", "IDENTITY_MERGED", "IDEMPOTENCY_KEY_REUSED", "SESSION_BUSY"],
  }),
  get: route("get", "/v1/identities/merge/{id}", "getMerge", {
    summary: "How far a merge is",
    description,
    request: { params: idParam },
    responses: answers(mergeSchema, "The merge."),
    fails: [...fails, "MERGE_NOT_FOUND"],
  }),
  undo: route("post", "/v1/identities/merge/{id}/undo", "undoMerge", {
    summary: "Give back what was the visitor's, within 30 days; what was erased in between stays erased",
    description: `${description} Answered when it is done.`,
    request: { params: idParam },
    responses: answers(mergeSchema, "The merge, undone."),
    fails: [...fails, "MERGE_NOT_FOUND", "MERGE_FINAL", "SESSION_BUSY"],
  }),
};

export function identityRoutes(identities: Identities): ApiApp {
  const api = newApi();
  /** One of another tenant is none. */
  const found = async (tenant: string, id: string) => {
    const merge = await identities.get(id);
    if (merge.tenant !== tenant) throw new AppError("MERGE_NOT_FOUND");
    return merge;
  };
  api.openapi(routes.merge, async (c) => {
    const tenant = c.get("tenant");
    const idempotencyKey = c.req.valid("header")["Idempotency-Key"];
    const request = { tenant, ...c.req.valid("json"), ...(idempotencyKey !== undefined && { idempotencyKey }) };
    const { tenant: _, ...merge } = await identities.merge(request);
    return answer(c, mergeSchema, merge, 202);
  });
  api.openapi(routes.get, async (c) => {
    const { tenant: _, ...merge } = await found(c.get("tenant"), c.req.valid("param").id);
    return answer(c, mergeSchema, merge);
  });
  api.openapi(routes.undo, async (c) => {
    const { merge_id } = await found(c.get("tenant"), c.req.valid("param").id);
    const { tenant: _, ...merge } = await identities.undo(merge_id);
    return answer(c, mergeSchema, merge);
  });
  return api;
}
