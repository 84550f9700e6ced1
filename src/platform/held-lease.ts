/** So long whoever is gone is waited for, in milliseconds: by the next worker, by who wants a lock, and by an erasure. */
export const LEASE_MS = 15_000;
/** In it one that lives renews so often, and sees that what it holds is not its own any more. */
const RENEWALS = 15;

/** A hold on what was given: a job, a lock. */
export interface HeldLease<J> {
  /** With the lease as it is now. */
  readonly job: J;
  /** Renews it no more. */
  end(): void;
}

export interface LeaseCalls<J> {
  /** For `leaseMs` from now. The job with its lease as it is now; null: it is the holder's no more. Default: none is renewed. */
  readonly renew?: ((job: J) => Promise<J | null>) | undefined;
  /** Called once, when somebody else may be given the job, or the owner's data is being erased. */
  readonly onLost: () => void;
  readonly onError: (error: unknown) => void;
  /** Default {@link LEASE_MS}. */
  readonly leaseMs?: number;
}

/** Renews a lease until its holder ends it. */
export function holdLease<J>(given: J, { renew, onLost, onError, leaseMs = LEASE_MS }: LeaseCalls<J>): HeldLease<J> {
  let job = given;
  if (renew === undefined) return { job, end: () => {} };
  let renewedAt = performance.now();
  let renewing = false;
  const again = async () => {
    renewing = true;
    const now = performance.now();
    try {
      const renewed = await renew(job);
      if (renewed === null) return lose();
      job = renewed;
      renewedAt = now;
    } catch (error) {
      onError(error);
      if (performance.now() - renewedAt > leaseMs) lose();
    } finally {
      renewing = false;
    }
  };
  const timer = setInterval(() => {
    // One that takes long is waited for: the next says which lease it renews.
    if (!renewing) void again();
  }, leaseMs / RENEWALS);
  timer.unref();
  const end = () => clearInterval(timer);
  const lose = () => {
    end();
    onLost();
  };
  return {
    get job() {
      return job;
    },
    end,
  };
}
