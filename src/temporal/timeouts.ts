import type { CampaignTimeouts } from '../../workflows/messages.ts';
import type { Config } from '../shared/config.ts';

/** Sum of all limits: the longest possible request. */
export function httpTimeoutMs(config: Config): number {
  return config.SVC_CONNECT_TIMEOUT_MS + config.SVC_HEADERS_TIMEOUT_MS + config.SVC_BODY_TIMEOUT_MS;
}

/** Measured from the step before the POST, posting window included. */
export function longestPostMs(config: Config): number {
  return config.CARILLON_POSTING_WINDOW_MS + httpTimeoutMs(config);
}

/** The slack is for transactions. */
export function campaignTimeouts(config: Config): CampaignTimeouts {
  return {
    heartbeatMs: config.CARILLON_HEARTBEAT_TIMEOUT_MS,
    submitHeartbeatMs: config.CARILLON_SUBMIT_HEARTBEAT_TIMEOUT_MS,
    // A submit may continue with other batches until its first heartbeat.
    submitMs: beatEveryMs(config.CARILLON_SUBMIT_HEARTBEAT_TIMEOUT_MS) + longestPostMs(config) + config.CARILLON_SUBMIT_SLACK_MS,
    collectMs: config.CARILLON_COLLECT_MAX_MS + 2 * httpTimeoutMs(config) + config.CARILLON_SUBMIT_SLACK_MS,
    shortMs: config.CARILLON_SHORT_TIMEOUT_MS,
  };
}

export function beatEveryMs(timeoutMs: number): number {
  return Math.max(200, Math.floor(timeoutMs / 4));
}
