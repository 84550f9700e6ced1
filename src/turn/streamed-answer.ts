import type { Element, PlacedElements } from "../domain/session.js";
import type { AgentEvent } from "../ports/agent.js";

/** What of an answer its client was shown so far: kept where it ends there. */
export class StreamedAnswer {
  #content = "";
  readonly #elements = new Map<string, Element>();
  readonly #placed: PlacedElements[] = [];

  get content(): string {
    return this.#content;
  }

  /** What it showed beside its text, each element where it came first. */
  get shown(): { readonly elements?: Element[]; readonly placed?: PlacedElements[] } {
    return this.#elements.size === 0 ? {} : { elements: [...this.#elements.values()], placed: this.#placed };
  }

  take(event: AgentEvent): void {
    if (event.type === "token") this.#content += event.delta;
    else if (event.type === "retract") this.#content = event.content;
    else if (event.type === "part") {
      const fresh = event.elements.filter(({ id }) => !this.#elements.has(id));
      for (const element of event.elements) this.#elements.set(element.id, element);
      if (fresh.length > 0) this.#placed.push({ after: this.#content.length, elements: fresh.map(({ id }) => id) });
    }
  }
}
