import type { PostVerdict } from '../../rules/ledger.ts';
import type { Tx } from '../tx.ts';
import { unwitnessedWords } from '../limits/safety.ts';

export interface VerdictInput {
  batchId: string;
  k: number;
  /** From a process that never learnt whether its entry was committed: speaks of that entry alone, and of none if it was not. */
  entry?: string;
  verdict: PostVerdict;
  now: number;
  status?: number | null;
  serviceRequestId?: string | null;
  /** The service's own words; go to the database alone. */
  message?: string | null;
  /** The answer's own `Date`, in epoch milliseconds of the service's clock; null or absent: it told none. */
  serviceDate?: number | null;
  serviceBatchId?: string;
  /** Absent: the service does not say. */
  callsInitiated?: number;
  /** For `not_sent` by 429: no POST of this account before this instant (service time). */
  notBefore?: number | null;
  /** For `not_sent`: the POST was never begun, since Temporal did not take it down. */
  unwitnessed?: boolean;
  /** For 400 and 422: whether the refusal names something outside the calls, so that smaller batches cannot help. */
  wholeRequest?: boolean;
}

/** Writes the verdict of a POST; answers false where it has one, or where it is not the one that is spoken of. */
export async function settlePost(tx: Tx, input: VerdictInput): Promise<boolean> {
  const serviceTo = input.serviceDate ?? null;
  const { entry } = input;
  const result = await tx
    .updateTable('posts')
    .set((eb) => ({
      // A Date before the last one: the clock was set back unseen, and the POST was made after either.
      ...(serviceTo === null
        ? {}
        : {
            service_from: eb.case().when('service_from', '>', serviceTo).then(serviceTo).else(eb.ref('service_from')).end(),
          }),
      service_to: serviceTo,
      verdict: input.verdict,
      verdict_at: input.now,
      status: input.status ?? null,
      service_request_id: input.serviceRequestId ?? null,
      message: input.unwitnessed === true ? unwitnessedWords : (input.message ?? null),
    }))
    .where('batch_id', '=', input.batchId)
    .where('k', '=', input.k)
    .where('verdict', 'is', null)
    .$if(entry !== undefined, (query) => query.where('entry', '=', entry ?? ''))
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}
