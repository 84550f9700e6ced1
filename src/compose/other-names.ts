/** What says where state is kept: one of them is enough. */
const WHERE_STATE_IS = ["SHORT_TERM_BACKEND", "DATABASE_URL", "REDIS_URL", "FIRESTORE_PROJECT", "COSMOS_ENDPOINT"];

/** Names that other products have for what variables of ours say: whoever brings them along means them. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  STATE_ENGINE: WHERE_STATE_IS,
  MEMORY_BACKEND: WHERE_STATE_IS,
  SESSION_SERVICE_URI: WHERE_STATE_IS,
  SESSION_DB_URL: WHERE_STATE_IS,
  FIRESTORE_PROJECT_ID: ["FIRESTORE_PROJECT"],
  FIRESTORE_DATABASE_ID: ["FIRESTORE_DATABASE"],
  ...Object.fromEntries(
    ["AZURE_COSMOS", "AZURE_COSMOSDB", "AZURE_COSMOS_DB", "COSMOSDB", "COSMOS_DB"].flatMap((prefix) => [
      [`${prefix}_ENDPOINT`, ["COSMOS_ENDPOINT"]],
      [`${prefix}_CONNECTION_STRING`, ["COSMOS_ENDPOINT"]],
      [`${prefix}_KEY`, ["COSMOS_KEY"]],
    ]),
  ),
  COSMOS_CONNECTION_STRING: ["COSMOS_ENDPOINT"],
};

/** Those of an environment in whose stead none of ours is set, each with ours. */
export function otherNames(env: Readonly<Record<string, string | undefined>>): readonly { name: string; ours: readonly string[] }[] {
  const isSet = (name: string) => (env[name] ?? "").trim() !== "";
  return Object.entries(OTHER_NAMES)
    .filter(([name, ours]) => isSet(name) && !ours.some(isSet))
    .map(([name, ours]) => ({ name, ours }));
}
