// Gives programs in Node the environment, as on other systems; programs that never read it have no ENV.
Module['preRun'] = (Module['preRun'] || []).concat(() => typeof ENV === 'undefined' || Object.assign(ENV, process.env));
