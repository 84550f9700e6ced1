interface Header {
  readonly type: "string" | "integer";
  readonly enum?: string[];
  readonly minimum?: number;
  readonly description: string;
}

/** Headers of answers, as `/openapi.json` describes them. */
const HEADERS = {
  "X-Request-Id": { type: "string", description: "The request's id: your own `X-Request-Id`, or a new one." },
  "X-Session-Id": { type: "string", description: "The session that the turn is in." },
  "X-Vercel-AI-UI-Message-Stream": { type: "string", description: "The version of the AI SDK's stream." },
  "X-Memory-Status": {
    type: "string",
    enum: ["ok", "empty", "disabled", "timeout", "degraded"],
    description: "How long-term memory did: `memory.status` of the answer.",
  },
  "Idempotency-Replayed": {
    type: "string",
    enum: ["true"],
    description: "Only where the key's first request is answered again: nothing was done.",
  },
  "Retry-After": { type: "integer", minimum: 1, description: "Seconds after which trying again makes sense." },
  "WWW-Authenticate": { type: "string", description: "What credentials are asked for." },
  Location: { type: "string", description: "Where what was made is found." },
  "Content-Disposition": { type: "string", description: "A name for the file." },
  "RateLimit-Limit": { type: "integer", description: "Requests a minute; only with RATE_LIMIT_PER_MINUTE." },
  "RateLimit-Remaining": { type: "integer", minimum: 0, description: "Requests that are left of them." },
  "RateLimit-Reset": { type: "integer", minimum: 1, description: "Seconds until the count begins anew." },
} satisfies Readonly<Record<string, Header>>;
export type HeaderName = keyof typeof HEADERS;

/** Sent with all that a user asks for, whatever becomes of it. */
const WITH_ALL: readonly HeaderName[] = ["X-Request-Id", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"];

/** For an answer that has these beside those that all have. */
export function headerRefs(names: readonly HeaderName[] = []): Record<string, { readonly $ref: string }> {
  return Object.fromEntries([...WITH_ALL, ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

export function headerComponents() {
  return Object.entries(HEADERS).map(([name, { description, ...schema }]) => [name, { description, schema: { ...schema } }] as const);
}
