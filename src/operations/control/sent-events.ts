import { readSecrets } from '../../shared/config.ts';
import type { Logger } from '../../shared/logger.ts';
import { hastenRead, takeSentRecord, type Taken } from '../../ledger/collect/sent-records.ts';
import type { ServiceClock } from '../../service/port/service-clock.ts';
import type { readServiceRecord } from '../../service/registry.ts';
import { verifySignature, readSentEvent } from '../../service/sent-events.ts';
import type { Control } from './control.ts';

interface SentRequest {
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
}

/** A larger skew, from a wrong clock or a delayed event, is logged. */
const notedSkewMs = 60_000;

/**
 * Handles a webhook of the service: `refused` when unsigned by SVC_WEBHOOK_SECRET or too old, `no_event` when unreadable. Dials nothing,
 * and settles only what reading the record would.
 */
export async function takeSentRequest(
  { store, config, logger, clock }: Control & { logger: Logger; clock: ServiceClock },
  { headers, body }: SentRequest,
): Promise<Taken | 'refused' | 'no_event'> {
  const now = (): number => Math.round(clock.now());
  const secrets = readSecrets(config.SVC_WEBHOOK_SECRET ?? '');
  const signature = verifySignature(headers, body, { secrets, now: now() });
  if ('fault' in signature) {
    logger.warn({ fault: signature.fault }, 'a webhook of the service was refused');
    return 'refused';
  }
  const skewMs = now() - signature.signedAt;
  if (Math.abs(skewMs) > notedSkewMs) logger.warn({ skewMs }, 'a webhook of the service was signed at another time than now');
  const event = readSentEvent(body);
  if (event === null) {
    logger.warn({}, 'a webhook of the service is signed and cannot be read');
    return 'no_event';
  }
  if (event.kind === 'other') {
    logger.debug({ type: event.type }, 'a webhook of the service tells nothing here');
    return 'not_asked_for';
  }
  const { kind, agentId, conversationId, at } = event;
  const sent = { accountId: config.SVC_BASE_URL, agentId, conversationId, at, now };
  const registry = await import('../../service/registry.ts');
  const read = (pointers: Parameters<typeof readServiceRecord>[2]) => ({
    ...registry.readServiceRecord(kind === 'record' ? event.document : {}, agentId, pointers).facts,
    conversationId,
  });
  const taken = await (kind === 'record' ? takeSentRecord(store, { ...sent, read }) : hastenRead(store, sent));
  const words = { stored: 'stored', nothing_new: 'known already', not_asked_for: 'no campaign under way asks for it' }[taken];
  logger.debug({ agentId, conversationId, kind, taken }, `a webhook of the service: ${words}`);
  return taken;
}
