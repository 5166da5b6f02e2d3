import { root } from '../http/paths.ts';
import type { Success, Transport } from '../http/transport.ts';
import { placingOf, type CallRequest, type Placing, type RequestedCall, type SendOnce } from '../port/call-service.ts';
import { RefusedError, ServiceError } from '../port/errors.ts';
import type { TrialCall } from '../port/lookup-trial.ts';
import { storableId } from '../port/record-values.ts';

/** The name under which the service shows a request: the mark stands at its end, where `find` looks for it. */
export function nameOf({ title, mark }: Pick<CallRequest, 'title' | 'mark'>): string {
  return `${title} · ${mark}`;
}

/** Whether a request with this mark has the name. */
export function isNamed(name: string, mark: string): boolean {
  return name.endsWith(` · ${mark}`);
}

/** The variable that carries the attempt's reference, whatever else a call is given. */
const referenceVariable = 'carillon_ref';

/** A person to call: our reference is the id, the user and a variable, so that whichever of them is kept names the call. */
export function recipientOf({ ref, to, override, variables }: RequestedCall): Readonly<Record<string, unknown>> {
  return {
    id: ref,
    phone_number: to,
    conversation_initiation_client_data: {
      user_id: ref,
      dynamic_variables: { ...variables, [referenceVariable]: ref },
      ...(override === null ? {} : { conversation_config_override: override }),
    },
  };
}

/** Sends a request to dial, once. `idOf` reads the id that the service gave it from an answer of success, and throws where it has none. */
export async function placeOnce(
  transport: Transport,
  { path, body }: { path: string; body: unknown },
  { requestId, mayBegin }: SendOnce,
  idOf: (success: Success) => string,
): Promise<Placing> {
  try {
    const request = { method: 'POST', path: `${root}${path}`, body: Buffer.from(JSON.stringify(body)), dials: true } as const;
    const success = await transport.write({ ...request, requestId, mayBegin });
    const serviceMs = success.request.serviceMs ?? null;
    return { kind: 'accepted', serviceBatchId: storableId(idOf(success)), accepted: null, serviceMs };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const placing = placingOf(error, isAboutWholeRequest);
    if (placing.kind !== 'refused' || !(error instanceof RefusedError)) return placing;
    return { ...placing, message: explainRefusal(error) ?? placing.message };
  }
}

/**
 * Smaller requests mend what the service says of a recipient; not a key, an agent, a plan, a path that is not there, or settings that an
 * agent does not let a call change, which stand with every recipient.
 */
function isAboutWholeRequest({ status, detail: { fields } }: RefusedError): boolean {
  if (status !== 400 && status !== 422) return true;
  const isAboutRecipient = (path: string) => /(^|\.)recipients(\.|\[|$)/.test(path) && !path.includes('conversation_config_override');
  return fields.length > 0 && !fields.some(({ path }) => isAboutRecipient(path));
}

/** What to do about a refusal whose words do not say it; null where they do. */
function explainRefusal({ status, path, detail }: RefusedError): string | null {
  if (status === 401) return 'The service refuses the key (401): set SVC_API_KEY to a key of this service, and SVC_API to its interface.';
  if (status === 403)
    return 'The service does not permit calls (403): check what the key may do, and whether the account has accepted the terms of calls in batches.';
  const isPathItself = status === 405 || (status === 404 && detail.code === null && detail.fields.length === 0);
  return isPathItself ? `The service has no POST ${path} (${status}): check SVC_API and SVC_BASE_URL.` : null;
}

const daySeconds = 86_400;

/** The only call of a trial, as a request. */
export function trialRequest({ mark, agentId, callerId, to }: TrialCall): CallRequest {
  const calls = [{ ref: `trial:${mark}`, to, override: null, variables: null }];
  return { mark, title: 'trial of the look-up, calls nobody', agentId, callerId, variablesKey: null, concurrency: 1, calls };
}

/** When it would be made, in epoch seconds: 30 days after `now`, in milliseconds. */
export function trialTime(now: number): number {
  return Math.floor(now / 1_000) + 30 * daySeconds;
}

/** Whether a service has put it off so far that there is time to take it back. */
export function isFarAhead(scheduled: number | null, now: number): boolean {
  return scheduled !== null && scheduled > now / 1_000 + daySeconds;
}
