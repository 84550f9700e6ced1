/** One server-sent event. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/**
 * Server-sent events from a response's body, as the HTML standard has them: blank lines part events, `data` lines are joined, comments and
 * unknown fields are passed over, an event that is cut off at the end is none.
 */
export async function* serverEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let rest = "";
  let event = "message";
  let data: string[] = [];
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    // A lone CR at the end may be half of a CRLF.
    const held = rest.endsWith("\r") ? "\r" : "";
    const lines = rest.slice(0, rest.length - held.length).split(/\r\n|\r|\n/);
    rest = (lines.pop() ?? "") + held;
    for (const line of lines) {
      if (line === "") {
        if (data.length > 0) yield { event, data: data.join("\n") };
        event = "message";
        data = [];
        continue;
      }
      const [, field, value] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (field === "event") event = value ?? "";
      if (field === "data") data.push(value ?? "");
    }
  }
}
