import type { FaultHit } from '../faults/book.ts';
import { Random } from '../core/random.ts';
import { refuseField } from '../schemas/validate.ts';

export const preferHeader = 'x-sandbox-prefer';

/** The failure asked for as `code=503`, for a sandbox that is loose (gaps D.2); null when none is. Throws 422 for any other text. */
export function preferredFailure(header: string | string[] | undefined): FaultHit | null {
  if (header === undefined) return null;
  const text = String(header);
  const status = Number(/^\s*code=([45]\d\d)\s*$/.exec(text)?.[1]);
  if (Number.isNaN(status))
    throw refuseField(['header', preferHeader], 'Must be code= with a status from 400 to 599.', 'invalid', text);
  return {
    ruleId: preferHeader,
    effect: { type: 'error', status, when: 'before', body: 'object' },
    draw: () => new Random(preferHeader),
  };
}
