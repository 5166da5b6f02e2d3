import { testWeaves } from './weaves-suite.ts';

testWeaves('sqlite', { every: 499, seeds: 20 });
