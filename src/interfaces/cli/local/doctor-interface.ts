import { checkCaller, startRefusal } from '../../../campaign/preflight/caller-check.ts';
import { readCampaignFile } from '../../../campaign/file/file.ts';
import { wordRules } from '../../../campaign/file/settings/words.ts';
import { readLookUpProof, type LookUpProof } from '../../../ledger/campaign/lookup-proof.ts';
import { openExistingLedger } from '../../../operations/control/ledger.ts';
import { accountIdOf, withService } from '../../../operations/control/service.ts';
import { deniedSettings } from '../../../rules/conversation-override.ts';
import { keyHeaders, serviceApis, type ServiceApi } from '../../../rules/service-api.ts';
import type { CallService } from '../../../service/port/call-service.ts';
import { probeService, type Probe } from '../../../service/probe.ts';
import { serviceSettings, type Config } from '../../../shared/config.ts';
import { plural } from '../../../shared/input/figures.ts';
import { instantText } from '../../../shared/input/times.ts';
import { fault, ok, reasonOf, warning, type Finding } from './doctor-reach.ts';

const name = 'Interface';
const limitMs = 5_000;

/** How each interface places calls, in words. */
const placed: Readonly<Record<ServiceApi, string>> = {
  contract: 'operation 14',
  'batch-calling': 'batch calling',
  campaigns: 'outbound campaigns',
};

/**
 * Whether the service has the interface that is set, and what its agents and numbers, or those of a campaign file, may do there. Nothing
 * where there is no key, or no service to ask: that is told by those who look at it.
 */
export async function checkInterface(config: Config, campaignPath: string | null): Promise<Finding[]> {
  const apiKey = config.SVC_API_KEY;
  if (apiKey === undefined) return [];
  const timeouts = { connectMs: limitMs, headersMs: limitMs, bodyMs: limitMs };
  const probes = await probeService({ ...serviceSettings(config), apiKey, timeouts, retriesAfter429: { reads: 0 } }).catch(() => null);
  if (probes === null || Object.values(probes).every((probe) => probe === 'unclear')) return [];
  const found = judgeInterface(config.SVC_API, probes);
  if (found?.status !== 'ok') return found === null ? [] : [found];
  return [found, ...(await checkCallers(config, campaignPath)), ...(await checkProof(config))];
}

/** Whether the account was seen to look requests up, which also shows that its terms are accepted; nothing where there is no look-up. */
async function checkProof(config: Config): Promise<Finding[]> {
  const { SVC_API: api } = config;
  if (api === 'contract') return [];
  const proof = await readProof(config, api);
  if (proof !== null) return [ok('Look-up', `proven on ${instantText(proof.provenAt)}; the terms of calls were accepted then`)];
  const advice =
    'carillon doctor --prove-lookup --to <your own number> shows it, and whether the terms of calls are accepted, without a call. Until then a person decides about requests that the service does not list.';
  return [warning('Look-up', 'not proven for this account', advice)];
}

async function readProof(config: Config, api: ServiceApi): Promise<LookUpProof | null> {
  try {
    const store = await openExistingLedger(config);
    try {
      return await readLookUpProof(store.db, { accountId: accountIdOf(config), api });
    } finally {
      await store.close();
    }
  } catch {
    // What is wrong with the database is told by those who look at it.
    return null;
  }
}

/** What the probes say of the interface that is set; null: nothing that the key does not say already. */
export function judgeInterface(own: ServiceApi, probes: Readonly<Record<ServiceApi, Probe>>): Finding | null {
  const others = serviceApis.filter((api) => api !== own && probes[api] === 'answers');
  const advice = others.length === 0 ? 'Check SVC_BASE_URL and SVC_API.' : `Set ${others.map((api) => `SVC_API=${api}`).join(' or ')}.`;
  const header = others[0] === undefined ? keyHeaders[own] : keyHeaders[others[0]];
  const otherHeader = header === keyHeaders[own] ? '' : `, and wants the key as ${header}`;
  switch (probes[own]) {
    case 'answers':
      return ok(name, `${own}: ${placed[own]} answers`);
    case 'not_there':
      return fault(name, `this service has no ${placed[own]} (SVC_API=${own})${otherHeader}`, advice);
    case 'not_permitted':
      return fault(name, `the key may not use ${placed[own]} (403)`, 'Give the key that right, and accept the terms of calls in batches.');
    case 'key_refused':
      if (header === keyHeaders[own]) return null;
      return fault(name, `the service wants the key as ${header}, not as ${keyHeaders[own]}`, advice);
    case 'unclear':
      return warning(name, `whether this service has ${placed[own]} cannot be told`, 'Try again, and look at what the service answers.');
  }
}

async function checkCallers(config: Config, campaignPath: string | null): Promise<Finding[]> {
  const about = campaignPath === null ? 'Agents' : 'Campaign';
  try {
    return await withService(config, (service) => (campaignPath === null ? checkAgents(service) : checkCampaign(service, campaignPath)));
  } catch (error) {
    return [fault(about, reasonOf(error), 'Correct what is named, then run carillon doctor again.')];
  }
}

async function checkCampaign(service: CallService, path: string): Promise<Finding[]> {
  const { settings } = await readCampaignFile(path);
  const { agent_id: agentId, from_phone_number_id: numbers, caller_choice: choice } = settings;
  const check = await checkCaller(service, { agentId, callers: { numbers, choice }, ...wordRules(settings) });
  const refusal = startRefusal(check);
  if (refusal !== null) return [fault('Campaign', refusal, 'carillon run refuses the campaign until then.')];
  return [
    ok('Campaign', `agent ${agentId} and ${plural(check.numbers.length, 'caller number')} are there, and calls may have what it sends`),
  ];
}

const mostAgents = 20;

async function checkAgents(service: CallService): Promise<Finding[]> {
  const silent: string[] = [];
  let agents = 0;
  for await (const { id } of service.agents()) {
    if (agents === mostAgents) break;
    agents += 1;
    const { permitted = null } = await service.agent(id);
    if (permitted !== null && deniedSettings({ agent: { first_message: '' } }, permitted).length > 0) silent.push(id);
  }
  const numbers = (await service.callers()).length;
  const detail = `${agents === mostAgents ? 'at least ' : ''}${plural(agents, 'agent')}, ${plural(numbers, 'caller number')}`;
  if (agents === 0 || numbers === 0) return [warning('Agents', detail, 'A campaign needs one of each in this account: is the key of it?')];
  if (silent.length === 0) return [ok('Agents', detail)];
  const advice = 'Permit it in their settings (overrides), or leave first_message out of campaigns that they call for.';
  return [
    warning(
      'Agents',
      `${detail}; ${silent.join(', ')} ${silent.length === 1 ? 'lets' : 'let'} no call have an opening line of its own`,
      advice,
    ),
  ];
}
