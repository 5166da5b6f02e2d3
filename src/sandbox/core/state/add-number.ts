import { deriveId } from '../random.ts';
import { conflict } from '../service-error.ts';
import type { PhoneNumber } from './agent.ts';
import type { ServiceState } from './service-state.ts';

export const defaultProvider = 'telephony';

/** Adds a number under a new id. Throws 409 when the number is there already. */
export function addNumber(
  { state, settings }: { state: ServiceState; settings: { seed: string } },
  facts: Omit<PhoneNumber, 'phoneNumberId'>,
): PhoneNumber {
  const known = [...state.numbers.values()].find(({ phoneNumber }) => phoneNumber === facts.phoneNumber);
  if (known !== undefined)
    throw conflict(
      'phone_number_already_imported',
      `${facts.phoneNumber} is already imported, as ${known.phoneNumberId}.`,
      'phone_number',
    );
  const phoneNumberId = deriveId('pn', settings.seed, state.count('numbers'));
  const number: PhoneNumber = { phoneNumberId, ...facts };
  state.addNumber(number);
  return number;
}
