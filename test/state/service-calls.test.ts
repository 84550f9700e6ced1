import { expect, test, vi } from "vitest";
import { ServiceCalls } from "../../src/state/service-calls.js";
import { serviceErrors } from "../../src/state/service-errors.js";

test("while another installation answers, calls that come together are refused by one look, and let in by one", async () => {
  const beat = vi.fn(async () => false);
  const calls = new ServiceCalls({
    name: "The service",
    variables: "SERVICE_URL",
    timeoutMs: 1_000,
    errors: serviceErrors({
      name: "The service",
      codeOf: () => undefined,
      refusalOf: () => undefined,
      mayPass: () => true,
      advice: "Look at it.",
    }),
    beat,
    end: () => {},
  });
  expect(await calls.health()).toMatchObject({ status: "down" });
  beat.mockClear();
  const ask = vi.fn(async () => "answer");
  const together = () => Promise.allSettled(Array.from({ length: 20 }, () => calls.within(ask)));
  for (const { status } of await together()) expect(status).toBe("rejected");
  expect(beat).toHaveBeenCalledOnce();
  expect(ask).not.toHaveBeenCalled();
  beat.mockImplementation(async () => true);
  for (const { status } of await together()) expect(status).toBe("fulfilled");
  expect(beat).toHaveBeenCalledTimes(2);
  expect(ask).toHaveBeenCalledTimes(20);
  await calls.close();
});
