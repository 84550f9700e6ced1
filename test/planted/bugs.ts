import type { Requirement } from "../requirements.js";

/** A defect that a careless change could bring in, and the test that has to find it. */
export interface PlantedBug {
  readonly name: string;
  readonly promise: Requirement;
  /** Relative to `src`. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly search: string;
  readonly replace: string;
  /** The test file that finds it, and words of the tests to be run in it. */
  readonly test: string;
  readonly named?: string;
}

/** One for each class of promise; docs/testing.md lists them. */
export const BUGS: readonly PlantedBug[] = [
  {
    name: "an append is answered before it is on the disk",
    promise: "turn-durable",
    file: "platform/jsonl-log.ts",
    search: "      if (this.#file.needsSync !== false) await this.#file.datasync();",
    replace: "",
    test: "test/short-term/journal-durability.test.ts",
    named: "holds every append that had resolved",
  },
  {
    name: "a repeated key runs the turn again",
    promise: "turn-once",
    file: "turn/orchestrator.ts",
    search: "if (!isCompleted(recorded)) {",
    replace: "if (recorded) {",
    test: "test/orchestrator/orchestrator.test.ts",
  },
  {
    name: "tool calls are left out of the window",
    promise: "window-bounded",
    file: "state/journal/round-collector.ts",
    search: "if (round?.takesSteps === true) round.steps.push(record.body);",
    replace: "if (round?.takesSteps === true && round.steps.length < 1) round.steps.push(record.body);",
    test: "test/short-term/window-model.test.ts",
  },
  {
    name: "history's filter of positions does not name the owner",
    promise: "owner-isolation",
    file: "vectors/history/collection.ts",
    search: "return { must: [...(ownFilter(owner, sessionId).must ?? []), { key:",
    replace: 'return { must: [{ key: "session_id", match: { value: sessionId } }, { key:',
    test: "test/history/vector-history.test.ts",
    named: "pins the owner",
  },
  {
    name: "the user `*` is let in",
    promise: "owner-reserved",
    file: "domain/owner.ts",
    search: 'value === "" || value === "*" ||',
    replace: 'value === "" ||',
    test: "test/http/auth.test.ts",
  },
  {
    name: "local mode answers to any Host",
    promise: "local-mode-loopback",
    file: "http/auth-local.ts",
    search: "if (!isLoopback(url.hostname) || !isLoopback(hostName(host)))",
    replace: "if (!isLoopback(url.hostname) && !isLoopback(hostName(host)))",
    test: "test/http/auth.test.ts",
  },
  {
    name: "the operator's token is let in where a user is wanted",
    promise: "operator-apart",
    file: "http/app.ts",
    search: "    door.refuse(credentialsOf(c));\n",
    replace: "",
    test: "test/http/operator.test.ts",
  },
  {
    name: "a session of Studio never ends",
    promise: "operator-apart",
    file: "http/studio-session.ts",
    search: " && Number(ends) > now()",
    replace: "",
    test: "test/http/studio.test.ts",
    named: "until it ends",
  },
  {
    name: "another site changes something by Studio's cookie",
    promise: "operator-apart",
    file: "http/studio-session.ts",
    search: 'if (request.method !== "GET" && request.method !== "HEAD") requireOwnOrigin(request);',
    replace: "",
    test: "test/http/studio.test.ts",
    named: "at the word of the server's own page",
  },
  {
    name: "a reindex doesn't look again at what it brought in",
    promise: "forgotten-stays-forgotten",
    file: "operations/reindexed-session.ts",
    search: "if (gone.length > 0) await history.removeMessages(owner, gone);",
    replace: "",
    test: "test/history/reindex.test.ts",
  },
  {
    name: "the text of foreign errors is logged",
    promise: "no-text-in-logs",
    file: "platform/pino-logger.ts",
    search: "content || error instanceof AppError ?",
    replace: "content || error instanceof Error ?",
    test: "test/platform/pino-logger.test.ts",
  },
  {
    name: "a receipt is verified without a look",
    promise: "erasure-verified",
    file: "privacy/erasure.ts",
    search: "const isLeft = isAnyLeft(residue);",
    replace: "const isLeft = false;",
    test: "test/privacy/erasure.test.ts",
  },
  {
    name: "a hard need whose date has passed still stops bookings",
    promise: "memory-informs",
    file: "gate/verdict.ts",
    search: "(memory.valid_until === null || Date.parse(memory.valid_until) > now.getTime()) &&",
    replace: "",
    test: "test/gate/constraint-gate.test.ts",
    named: "whose date has passed",
  },
  {
    name: "a store that is down passes for one without needs",
    promise: "memory-informs",
    file: "gate/constraint-gate.ts",
    search: 'logger.warn({ code: codeOf(error) }, "needs could not be read for a booking");\n      return { known: [], complete: false };',
    replace: "return { known: [], complete: true };",
    test: "test/gate/constraint-gate.test.ts",
    named: "a store that is down",
  },
  {
    name: "a binding tool of a domain passes the gate by",
    promise: "gate-of-every-domain",
    file: "gate/gated-tools.ts",
    search: "if (acts !== undefined) return heldTool(tool, acts, parts);",
    replace: "",
    test: "test/gate/binding-tool.test.ts",
    named: "shows first",
  },
  {
    name: "a quote that is not in the message is let through",
    promise: "why-exact",
    file: "memories/checks/locate-quote.ts",
    search: "found.cost > costAllowed(quote))",
    replace: "found.cost > costAllowed(quote) + 100)",
    test: "test/reading/checks.test.ts",
    named: "the quote",
  },
  {
    name: "what the guest brought along is taken for their own words",
    promise: "only-users-words",
    file: "memories/checks/check.ts",
    search: 'if (this.#isBroughtAlong(located, proposal)) return "brought_along";',
    replace: "",
    test: "test/reading/checks.test.ts",
    named: "brought along",
  },
  {
    name: "what nobody's words bear out holds like what was said",
    promise: "second-witness",
    file: "memories/checks/check.ts",
    search: 'return words === "yes" || (words === "unclear" && isAlike(proposal));',
    replace: "return words !== undefined || isAlike(proposal);",
    test: "test/reading/second-witness.test.ts",
    named: "anybody else's words",
  },
  {
    name: "a secret is stored like any other memory",
    promise: "poison-refused",
    file: "memories/checks/check.ts",
    search: 'if (this.#secrets.some((secret) => overlaps(secret, span)) || holdsSecret(wordsIn(proposal))) return "secret";',
    replace: "",
    test: "test/reading/checks.test.ts",
    named: "secrets are refused",
  },
  {
    name: "forgetting leaves no tombstone",
    promise: "forgotten-stays-forgotten",
    file: "memories/forgetting.ts",
    search: "      all.map((record) => {",
    replace: "      all.slice(0, 0).map((record) => {",
    test: "test/long-term/in-memory.test.ts",
    named: "forgetting takes the older versions along",
  },
  {
    name: "the store is written before the log",
    promise: "write-back-once",
    file: "memories/owner-logs.ts",
    search: "memories.fold(await this.#parts.log.append(owner, entry, append));",
    replace: `{
            memories.fold({ v: 1, seq: memories.seq + 1, at: now.toISOString(), ...entry });
            await this.#project(owner, held, { epoch });
            await this.#parts.log.append(owner, entry, append);
          }`,
    test: "test/memories/lost-store.test.ts",
    named: "logged and not stored",
  },
  {
    name: "a recall that failed passes for ok",
    promise: "degradation-honest",
    file: "vectors/mem0/memory-recall.ts",
    search: '          ? "degraded"',
    replace: '          ? "ok"',
    test: "test/long-term/recall.test.ts",
    named: "a store that refuses is degraded",
  },
  {
    name: "a body may be of any length",
    promise: "limits-hold",
    file: "http/body.ts",
    search: "CHAT_LIMIT: BodyLimit = { whole: MAX_CHAT_BODY_BYTES, besideImages: MAX_BODY_BYTES }",
    replace: "CHAT_LIMIT: BodyLimit = { whole: MAX_CHAT_BODY_BYTES, besideImages: MAX_BODY_BYTES * 100 }",
    test: "test/http/problems.test.ts",
    named: "a body over the limit",
  },
  {
    name: "a tenant's settings hold for everybody",
    promise: "tenant-settings",
    file: "compose/by-tenant.ts",
    search: "return this.#own.get(parseOwner(owner).tenant) ?? this.rest;",
    replace: "return this.all.at(1) ?? this.rest;",
    test: "test/http/tenants.test.ts",
    named: "by its own model",
  },
  {
    name: "a value is sealed without its place",
    promise: "sealed-at-rest",
    file: "state/encryption/encrypted-engine.ts",
    search: "export function placeOf(partition: string, key: string): string {",
    replace: 'export function placeOf(partition: string, key: string): string {\n  if (partition !== key) return "";',
    test: "test/encryption/encrypted-engine.test.ts",
    named: "moved to another key",
  },
  {
    name: "an erasure leaves the key",
    promise: "erased-by-key",
    file: "privacy/erasure.ts",
    search: "return keys.destroy(owner);",
    replace: "return [];",
    test: "test/encryption/erased.test.ts",
    named: "restored with the keys of today",
  },
];
