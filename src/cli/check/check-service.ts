import { checkCaller } from '../../preflight/caller-check.ts';
import type { Config } from '../../config.ts';
import { ConvaiError } from '../../convai/errors.ts';
import type { ServiceClock } from '../../convai/service-clock.ts';
import type { CallerStanding } from '../../domain/caller-choice.ts';
import type { CampaignRules } from '../../domain/campaign-rules.ts';
import { describeFailure } from '../terminal/failure.ts';
import { explainServiceFault, openService, readClock, ServiceUnusableError } from '../access/service.ts';

/** Whether the service would take the campaign's calls. */
export type ServiceState =
  | { asked: false; reason: string }
  | {
      asked: true;
      url: string;
      agentId: string;
      /** Empty when the service was not asked so far. `verified`: null when it does not tell. */
      callers: Pick<CallerStanding, 'phoneNumberId' | 'fault' | 'verified'>[];
      /** Why it would take no call at all, and what to do; null when it would. */
      refusal: string | null;
    };

const limitMs = 5_000;

/** The clock of the service, since windows are its; null when it does not answer, or is not to be asked. */
export async function clockOfService(config: Config): Promise<ServiceClock | null> {
  if (config.SVC_API_KEY === undefined) return null;
  try {
    return await readClock(config, limitMs);
  } catch (error) {
    if (error instanceof ServiceUnusableError) return null;
    throw error;
  }
}

/** Asks the service for the agent and each caller number. A service that does not answer is told, not thrown. Throws ConfigError. */
export async function checkService(
  config: Config,
  { agentId, callers }: Pick<CampaignRules, 'agentId' | 'callers'>,
): Promise<ServiceState> {
  if (config.SVC_API_KEY === undefined) return { asked: false, reason: 'SVC_API_KEY is not set' };
  const client = openService(config);
  try {
    const check = await checkCaller(client, { agentId, callers });
    return {
      asked: true,
      url: config.SVC_BASE_URL,
      agentId,
      callers: check.numbers.map(({ phoneNumberId, fault, verified }) => ({ phoneNumberId, fault, verified })),
      refusal: check.ok ? null : check.reason,
    };
  } catch (error) {
    if (!(error instanceof ConvaiError)) throw error;
    return { asked: false, reason: describeFailure(explainServiceFault(config, error), false).message };
  } finally {
    await client.close();
  }
}
