type Variables = Readonly<Record<string, string | undefined>>;

/** Any of these chooses an embedder. */
const CHOOSING = ["EMBEDDING_PROVIDER", "EMBEDDING_BASE_URL", "EMBEDDING_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_KEY"];

/** With the embedder that compares words, where nothing chooses one: the model of the package takes its time to load, and to run. */
export function byWords<T extends Variables>(variables: T): T & { readonly EMBEDDING_PROVIDER?: string } {
  return CHOOSING.some((name) => variables[name] !== undefined) ? variables : { ...variables, EMBEDDING_PROVIDER: "hashing" };
}
