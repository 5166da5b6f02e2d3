import { ConfigError, type Config } from '../shared/config.ts';

type HookRules = { [Setting in 'preDial' | 'onCompletion' | 'onPause']: { url: string } | null };

/** Throws ConfigError when the campaign has hooks and nothing to sign their requests with is set. */
export function requireHookSecret(config: Config, campaignId: string, rules: HookRules): void {
  if (config.CARILLON_HOOK_SECRET !== undefined) return;
  const settings = hooksOf(rules).map(({ setting }) => setting);
  if (settings.length === 0) return;
  throw new ConfigError(
    `CARILLON_HOOK_SECRET is not set, and campaign ${campaignId} has ${settings.join(' and ')}, whose requests are signed with it. Set the same secret (16 characters or more) here, for every worker and at the receiver.`,
  );
}

/** The settings of a campaign that lead to signed requests, and where these go. */
export function hooksOf({ preDial, onCompletion, onPause }: HookRules): { setting: string; url: string }[] {
  const hooks = Object.entries({ pre_dial: preDial, on_completion: onCompletion, on_pause: onPause });
  return hooks.flatMap(([setting, hook]) => (hook === null ? [] : [{ setting, url: hook.url }]));
}
