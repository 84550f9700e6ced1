import { flag, optionalText, variable } from "./variable.js";

export const ENCRYPTION_VARIABLES = {
  ENCRYPTION_KEY_FILE: variable(
    optionalText,
    "",
    "Encrypts what is kept: a file with the master key, 32 bytes in base64 or hex; a second line is the one before (`docs/operations.md`).",
  ),
  ENCRYPT_VECTORS: variable(
    flag.default(false),
    "false",
    "Also seals dense vectors, which are searched in memory then: for users with up to some thousand memories and messages each.",
  ),
  ENCRYPTION_KMS_KEY: variable(
    optionalText,
    "",
    "The same under a key of AWS KMS: its id, ARN or alias, with `@aws-sdk/client-kms`. Beside a file, what that wrapped is still read.",
  ),
} as const;
