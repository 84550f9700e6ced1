/** Which methods a path knows, for 405 and OPTIONS. Patterns are Hono's, `:name` standing for one segment. */
export class MethodTable {
  readonly #routes: readonly { readonly method: string; readonly path: RegExp }[];

  constructor(routes: readonly { readonly method: string; readonly path: string }[]) {
    this.#routes = routes
      .filter(({ method, path }) => method !== "ALL" && !path.includes("*"))
      .map(({ method, path }) => ({
        method,
        path: new RegExp(`^${path.replaceAll(/[.+?^$()|[\]\\]/g, "\\$&").replaceAll(/:[^/]+/g, "[^/]+")}$`),
      }));
  }

  /** For the `Allow` header; empty for a path that is not known. */
  allowed(path: string): string[] {
    const methods = new Set(this.#routes.filter((route) => route.path.test(path)).map((route) => route.method));
    if (methods.size === 0) return [];
    if (methods.has("GET")) methods.add("HEAD");
    return [...methods, "OPTIONS"].sort();
  }
}
