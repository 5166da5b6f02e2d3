import type { ConvaiClient } from '../convai/client.ts';
import { RefusedError } from '../convai/errors.ts';

export type CallerCheck =
  /** `proven`: the service itself says that the number is verified; otherwise the first calls have to show it. */
  | { ok: true; proven: boolean }
  /** What a person has to mend; holds ids only. */
  | { ok: false; reason: string };

function verificationOf(number: Record<string, unknown>): boolean | null {
  if (typeof number['verified'] === 'boolean') return number['verified'];
  const status = number['verification_status'];
  return typeof status === 'string' ? status === 'verified' : null;
}

/**
 * Asks the service whether it knows the agent and the caller number, and whether the number is verified where it tells.
 * Two reads. Throws what the client throws when the service cannot be asked.
 */
export async function checkCaller(
  client: ConvaiClient,
  caller: { agentId: string; fromPhoneNumberId: string },
): Promise<CallerCheck> {
  try {
    await client.getAgent(caller.agentId);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    if (error.status === 401 || error.status === 403)
      return { ok: false, reason: `The service refuses the API key (${error.status}): set SVC_API_KEY` };
    return {
      ok: false,
      reason: `The service does not know agent ${caller.agentId} (${error.status}): correct agent_id in the campaign file`,
    };
  }
  const numbers = await client.listPhoneNumbers();
  const number = numbers.find((entry) => entry.phone_number_id === caller.fromPhoneNumberId);
  if (number === undefined) {
    return {
      ok: false,
      reason: `The service has no phone number ${caller.fromPhoneNumberId}: correct from_phone_number_id in the campaign file, or import the number`,
    };
  }
  const verified = verificationOf(number);
  if (verified === false) {
    return {
      ok: false,
      reason: `Phone number ${caller.fromPhoneNumberId} is not verified, so its calls would fail: verify it with the service`,
    };
  }
  return { ok: true, proven: verified === true };
}
