import { z } from "zod";
import { integer, optionalText, url, variable } from "./variable.js";

export const VECTOR_STORES = ["local", "qdrant", "pgvector", "chroma", "state"] as const;
export type VectorStoreName = (typeof VECTOR_STORES)[number];

export const LOCAL_QDRANT_URL = "http://localhost:6333";

/** Variables of where vectors are kept, in the order of the table of variables. */
export const VECTOR_VARIABLES = {
  MEM0_PROVIDER: variable(
    z.enum(VECTOR_STORES).optional(),
    "`qdrant` when QDRANT_URL is set, else `local`",
    "Where long-term memory is stored: `local`, `qdrant`, `chroma`, `pgvector`, or `state`: with all else (`docs/engines.md`).",
  ),
  QDRANT_URL: variable(
    url.optional(),
    `${LOCAL_QDRANT_URL} where a \`qdrant\` backend is chosen`,
    "A Qdrant server, 1.17 or newer. Needs `npm install @qdrant/js-client-rest`.",
  ),
  QDRANT_API_KEY: variable(optionalText, "", "Its key."),
  CHROMA_URL: variable(url.optional(), "", "A Chroma server, 1.0 or newer: `http://127.0.0.1:8000`. Needs `npm install chromadb`."),
  VECTOR_CACHE_MIB: variable(
    integer(1, 65_536).default(256),
    "256",
    "Memory for vectors and postings of the users seen last, with the local store, Chroma and `state`. All others' stay there.",
  ),
} as const;
