import { type Owner, ownerOf } from "../domain/owner.js";
import { AppError } from "../platform/errors.js";
import type { Authenticator, Credentials } from "./authenticator.js";

/** What a trusted backend asks for its whole tenant, and no user may. */
const BACKEND_PATHS = ["/v1/events", "/v1/identities"];

export function isBackendPath(path: string): boolean {
  return BACKEND_PATHS.some((each) => path === each || path.startsWith(`${each}/`));
}

/** The backend's tenant. @throws UNAUTHENTICATED, NOT_FOUND for a user, to whom there is no such route */
export async function tenantOfBackend(auth: Authenticator, credentials: Credentials): Promise<string> {
  const tenant = auth.backend?.(credentials) ?? null;
  if (tenant !== null) return tenant;
  await auth.identify(credentials);
  throw new AppError("NOT_FOUND", { hint: "For a trusted backend alone: an API key whose user is null." });
}

/** Under which a backend's own requests and streams are counted: no user can have this name. */
export function backendOwner(tenant: string): Owner {
  const [part] = ownerOf(tenant, "backend").split(":");
  return `${part}:*` as Owner;
}
