/** What a loopback provider is told to answer, whichever wire it speaks. */
export interface WireAnswer {
  /** Streamed piece by piece where it is an array. */
  readonly text?: string | readonly string[];
  /** Told apart from the text where the wire can; signed where it does that. */
  readonly thought?: string;
  readonly calls?: readonly { readonly id?: string; readonly name: string; readonly arguments: object }[];
  readonly finish?: "stop" | "length" | "content_filter";
  /** Default: 12, of which 4 cached, and 3. */
  readonly usage?: { readonly input: number; readonly cached: number; readonly output: number };
  /** Instead of an answer. `hang`: nothing ever comes. `half`: the connection is cut in the middle. */
  readonly fault?: WireFault | "hang" | "half";
}

export interface WireFault {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: an error of the wire's form with these words. */
  readonly words?: string;
}

export interface WireRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: never;
}

/** What a request said, in neutral words, as the wire's double read it. */
export interface WireSaid {
  /** The system text; the empty string where there was none. */
  readonly system: string;
  readonly turns: readonly WireTurn[];
  readonly tools: readonly string[];
  /** Whether it forbade to call any. */
  readonly noCalls: boolean;
  readonly streaming: boolean;
}

export interface WireTurn {
  readonly role: "user" | "assistant" | "tool";
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: unknown }[];
  /** Ids of the results that a `tool` turn holds. */
  readonly results: readonly string[];
  /** What was signed and came back. */
  readonly signed: boolean;
}

/** One provider's protocol, as its double speaks it. */
export interface Wire {
  readonly name: string;
  /** Longest id that it takes. */
  readonly maxIdChars: number;
  /** @throws for what the provider would refuse by its form */
  read(body: never, path: string): WireSaid;
  /** Server-sent events, without their blank lines' end. */
  stream(answer: WireAnswer): string[];
  whole(answer: WireAnswer): unknown;
  error(status: number, words: string): unknown;
}

export const SIGNATURE = "c2lnbmVkLWJ5LXRoZS1wcm92aWRlcg==";

export function usageOf(answer: WireAnswer) {
  return answer.usage ?? { input: 12, cached: 4, output: 3 };
}

export function textsOf(answer: WireAnswer): readonly string[] {
  return typeof answer.text === "string" ? [answer.text] : (answer.text ?? []);
}

export function idOf(call: { readonly id?: string }, index: number): string {
  return call.id ?? `call_wire_${index}`;
}

/** Rules of every wire: who may follow whom, and that calls and results fit. */
export function problemsOf(said: WireSaid, maxIdChars: number): string[] {
  const problems: string[] = [];
  if (said.turns[0]?.role !== "user") problems.push("the conversation does not begin with the user");
  for (const [at, turn] of said.turns.entries()) {
    const next = said.turns[at + 1];
    if (next !== undefined && next.role === turn.role && turn.role !== "tool") problems.push(`two neighbours are ${turn.role}`);
    if (turn.calls.length > 0 && said.tools.length === 0) problems.push("the history has calls, but no tools are named");
    for (const call of turn.calls) {
      if (typeof call.arguments !== "object" || call.arguments === null || Array.isArray(call.arguments))
        problems.push("arguments are no object");
      if (call.id.length > maxIdChars || !/^[\w.:-]+$/.test(call.id)) problems.push(`the id ${call.id} is not one`);
    }
    const results = said.turns.slice(at + 1).flatMap((each) => each.results);
    if (!turn.calls.every(({ id }) => results.includes(id))) problems.push("a call has no result");
  }
  const called = said.turns.flatMap(({ calls }) => calls.map(({ id }) => id));
  if (!said.turns.flatMap(({ results }) => results).every((id) => called.includes(id))) problems.push("a result has no call");
  return problems;
}
