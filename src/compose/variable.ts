import { z } from "zod";

/** What the schemas of variables are made of. Values come as text. */

export const text = z.string().trim().min(1);
export const optionalText = text.optional();
export const flag = z.enum(["true", "false"]).transform((value) => value === "true");
export const url = z.url({ protocol: /^https?$/, error: "an http(s) URL" });

export function integer(min: number, max: number) {
  return z
    .string()
    .regex(/^-?\d+$/, `a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `a whole number from ${min} to ${max}`);
}

export function decimal(min: number, max: number) {
  return z
    .string()
    .regex(/^-?\d+(\.\d+)?$/, `a number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `a number from ${min} to ${max}`);
}

const TEXTS = 'a JSON object of texts, such as {"name":"value"}';

/** A JSON object whose values are texts. */
export const jsonTexts = z.string().transform((value, context): Record<string, string> => {
  try {
    const parsed = z.record(z.string(), z.string()).safeParse(JSON.parse(value));
    if (parsed.success) return parsed.data;
  } catch {
    // Told below, as JSON of another form is.
  }
  context.addIssue({ code: "custom", message: TEXTS });
  return z.NEVER;
});

/** `fallback`: what the table of variables shows. Default: the schema's default, else nothing. */
export function variable<S extends z.ZodType>(schema: S, meaning: string, fallback = defaultOf(schema)) {
  return { schema, fallback, meaning } as const;
}

/** Variables with their values, as their schemas read them. */
export type ValuesOf<V extends Readonly<Record<string, { readonly schema: z.ZodType }>>> = {
  [Name in keyof V]: z.output<V[Name]["schema"]>;
};

function defaultOf(schema: z.ZodType): string {
  return schema instanceof z.ZodDefault ? String(schema.def.defaultValue) : "";
}

/** Text as it stands, blanks included; `none` is the empty one. */
export const prefix = z.string().transform((value) => (value.trim() === "none" ? "" : value));

/** What says where state is kept: one of them is enough. */
const WHERE_STATE_IS = ["SHORT_TERM_BACKEND", "STATE_ENGINE", "DATABASE_URL", "REDIS_URL", "FIRESTORE_PROJECT", "COSMOS_ENDPOINT"];

/** Names that other products have for what variables of ours say: whoever brings them along means them. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  MEMORY_BACKEND: WHERE_STATE_IS,
  SESSION_SERVICE_URI: WHERE_STATE_IS,
  SESSION_DB_URL: WHERE_STATE_IS,
  // Google ADK's other services.
  MEMORY_SERVICE_URI: ["MEM0_PROVIDER", "QDRANT_URL", "CHROMA_URL"],
  ARTIFACT_SERVICE_URI: WHERE_STATE_IS,
  CHROMA_HOST: ["CHROMA_URL"],
  CHROMA_SERVER_HOST: ["CHROMA_URL"],
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

/** The origins of a list with commas, without the blanks around them. */
export function originsOf(list: string): readonly string[] {
  return list
    .split(",")
    .map((origin) => origin.trim())
    .filter((origin) => origin !== "");
}

/** A list of origins as text, each as browsers send it: what is written in another way would match none. */
export const originList = text.superRefine((list, context) => {
  for (const origin of originsOf(list))
    if (!isOrigin(origin))
      context.addIssue({
        code: "custom",
        message: `"${origin.slice(0, 100)}" is no origin; one is a scheme, a host and perhaps a port, such as https://shop.example`,
      });
});

/** As browsers write it: lower case, no path, no port that goes without saying. Of other schemes (`capacitor://`) the same form. */
function isOrigin(given: string): boolean {
  if (given.includes("*")) return false;
  const scheme = given.slice(0, given.indexOf("://"));
  if (scheme === "http" || scheme === "https") return URL.canParse(given) && new URL(given).origin === given;
  return /^[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/?#@]{1,255}$/.test(given);
}
