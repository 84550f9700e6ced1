import { signal } from "@preact/signals";
import { type Query, queryOf } from "../web/format.js";
import { encoded } from "./client.js";

/** Where one is, as the address says behind its `#`: `#/turns/default/ada/{session}/3?compare=yes`. */
export interface Route {
  readonly screen: string;
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function parsed(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#?\/?/, "").split("?", 2);
  const [screen = "", ...rest] = path.split("/").map(decoded);
  return { screen: screen === "" ? "conversations" : screen, path: rest, query: Object.fromEntries(new URLSearchParams(query)) };
}

export const route = signal<Route>(parsed(location.hash));
addEventListener("hashchange", () => {
  route.value = parsed(location.hash);
});

/** The address of a screen; null where a part of it is not known. */
export function addressOf(screen: string, path: readonly (string | null)[] = [], query: Query = {}): string | null {
  if (path.includes(null)) return null;
  return ["#", screen, ...path.map((part) => encoded(part ?? ""))].join("/") + queryOf(query);
}

/** Another query of the same screen. `replace`: without a step in the browser's history. */
export function setQuery(query: Query, replace = false): void {
  const { screen, path } = route.value;
  const address = addressOf(screen, path, query) ?? "";
  if (!replace) {
    location.hash = address;
    return;
  }
  history.replaceState(null, "", address);
  route.value = parsed(address);
}
