import { SIGNATURE, textsOf, usageOf, type Wire, type WireAnswer, type WireTurn } from "./wire.js";

interface Part {
  readonly text?: string;
  readonly thought?: boolean;
  readonly thoughtSignature?: string;
  readonly functionCall?: { readonly name: string; readonly args: unknown };
  readonly functionResponse?: { readonly name: string };
}
interface Body {
  readonly systemInstruction?: { readonly parts: readonly Part[] };
  readonly contents: readonly { readonly role: "user" | "model"; readonly parts: readonly Part[] }[];
  readonly tools?: readonly { readonly functionDeclarations: readonly { readonly name: string; readonly parameters?: unknown }[] }[];
  readonly toolConfig?: { readonly functionCallingConfig?: { readonly mode?: string } };
}

/** Gemini's generateContent: no ids of calls, and a thought's signature at the call that follows it. */
export const geminiWire: Wire = {
  name: "Gemini generateContent",
  maxIdChars: 200,
  read(given, path) {
    const body = given as Body;
    const declarations = (body.tools ?? []).flatMap(({ functionDeclarations }) => functionDeclarations);
    const refused = /"(?:format|pattern|minLength|maxLength)":/.exec(JSON.stringify(declarations.map(({ parameters }) => parameters)));
    if (refused) throw new Error(`Invalid JSON payload received. Unknown name ${refused[0]}`);
    return {
      system: (body.systemInstruction?.parts ?? []).map(({ text }) => text ?? "").join("\n"),
      turns: turnsOf(body.contents),
      tools: declarations.map(({ name }) => name),
      noCalls: body.toolConfig?.functionCallingConfig?.mode === "NONE",
      streaming: path.includes("streamGenerateContent"),
    };
  },
  stream(answer) {
    const parts = partsOf(answer);
    const chunks: object[] = parts.map((part) => ({ candidates: [{ index: 0, content: { role: "model", parts: [part] } }] }));
    chunks.push(lastOf(answer, []));
    return chunks.map((chunk) => `data: ${JSON.stringify(chunk)}`);
  },
  whole: (answer) => lastOf(answer, partsOf(answer)),
  error: (status, words) => ({
    error: { code: status, message: words, status: status === 429 ? "RESOURCE_EXHAUSTED" : "INVALID_ARGUMENT" },
  }),
};

function partsOf(answer: WireAnswer): Part[] {
  const signed = answer.thought === undefined ? {} : { thoughtSignature: SIGNATURE };
  return [
    ...(answer.thought === undefined ? [] : [{ text: answer.thought, thought: true }]),
    ...textsOf(answer).map((text) => ({ text })),
    ...(answer.calls ?? []).map((call, at) => ({ functionCall: { name: call.name, args: call.arguments }, ...(at === 0 && signed) })),
  ];
}

function lastOf(answer: WireAnswer, parts: readonly Part[]): object {
  const { input, cached, output } = usageOf(answer);
  const finishReason = answer.finish === "length" ? "MAX_TOKENS" : answer.finish === "content_filter" ? "SAFETY" : "STOP";
  return {
    candidates: [{ index: 0, content: { role: "model", parts }, finishReason }],
    usageMetadata: {
      promptTokenCount: input,
      cachedContentTokenCount: cached,
      candidatesTokenCount: output,
      totalTokenCount: input + output,
    },
  };
}

/** Ids are by place, as the wire has none. */
function turnsOf(contents: Body["contents"]): WireTurn[] {
  let called = 0;
  let answered = 0;
  return contents.map(({ role, parts }) => {
    const calls = parts.flatMap(({ functionCall }) =>
      functionCall ? [{ id: `place_${called++}`, name: functionCall.name, arguments: functionCall.args }] : [],
    );
    const results = parts.flatMap(({ functionResponse }) => (functionResponse ? [`place_${answered++}`] : []));
    const text = parts.map((part) => (part.thought === true ? "" : (part.text ?? ""))).join("");
    const signed = parts.some(({ thoughtSignature }) => thoughtSignature === SIGNATURE);
    return { role: results.length > 0 ? "tool" : role === "model" ? "assistant" : "user", text, calls, results, signed };
  });
}
