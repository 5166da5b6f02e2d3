/** One URL per host, in order, or the fault. */
export type PostgresAddress = { urls: string[]; place: string } | { fault: string };

const parts = /^(postgres(?:ql)?:\/\/)((?:[^/?#]*@)?)([^/?#@]*)([^?#]*)(.*)$/i;
/** `target_session_attrs` values that a writable server satisfies. */
const writing: readonly string[] = ['any', 'read-write', 'primary'];

/** Parses a connection string like libpq, including several hosts. `place` is safe to print: no user, password or query. */
export function readPostgresAddress(text: string): PostgresAddress {
  const [, scheme, user = '', hosts = '', path = '', query = ''] = parts.exec(text) ?? [];
  if (scheme === undefined)
    return {
      fault:
        'is no address of PostgreSQL: it must begin with postgres:// or postgresql://, as in postgres://user:password@host:5432/database.',
    };
  const [, requiredAccess = 'any'] = /[?&]target_session_attrs=([^&]*)/.exec(query) ?? [];
  if (!writing.includes(requiredAccess))
    return {
      fault: `asks for target_session_attrs=${requiredAccess}, a server that may only be read. Carillon works on the one that may write: say read-write, or leave it out.`,
    };
  if (/[?&]host=[^&]*(,|%2C)/i.test(query))
    return {
      fault: 'names several hosts in its query. Write them before the database: postgres://user:password@host1:5432,host2:5432/database.',
    };
  const urls = hosts.split(',').map((host) => `${scheme}${user}${host}${path}${query}`);
  const isWhole = urls.every((url) => URL.canParse(url)) && (urls.length === 1 || hosts.split(',').every((host) => /^[^:]|^\[/.test(host)));
  if (!isWhole)
    return {
      fault:
        'has hosts that cannot be read. Several stand with commas between them, each with its port: postgres://user:password@host1:5432,host2:5432/database.',
    };
  return { urls, place: `${hosts}${path}` };
}
