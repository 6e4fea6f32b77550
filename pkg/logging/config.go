// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package logging

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	corev1 "k8s.io/api/core/v1"

	"weir.dev/pkg/logging/logkey"
)

const (
	configMapNameEnv  = "CONFIG_LOGGING_NAME"
	zapConfigKey      = "zap-logger-config"
	levelKeyPrefix    = "loglevel."
	fallbackName      = "fallback-logger"
	defaultConfigName = "config-logging"
)

// defaultZapConfig is the production configuration: JSON on standard error,
// times in UTC to the millisecond.
const defaultZapConfig = `{
  "level": "info",
  "development": false,
  "outputPaths": ["stderr"],
  "errorOutputPaths": ["stderr"],
  "encoding": "json",
  "encoderConfig": {
    "timeKey": "timestamp",
    "levelKey": "severity",
    "nameKey": "logger",
    "callerKey": "caller",
    "messageKey": "message",
    "stacktraceKey": "stacktrace",
    "lineEnding": "",
    "levelEncoder": "",
    "timeEncoder": "iso8601",
    "durationEncoder": "string",
    "callerEncoder": ""
  }
}`

// ConfigMapName is the name of the logging ConfigMap: the environment variable
// CONFIG_LOGGING_NAME, else config-logging.
func ConfigMapName() string {
	if name := os.Getenv(configMapNameEnv); name != "" {
		return name
	}
	return defaultConfigName
}

// Config is the content of the logging ConfigMap.
type Config struct {
	// LoggingConfig is zap's own configuration as JSON; empty means production.
	LoggingConfig string
	// LoggingLevel holds the levels of single components; the others have the
	// level of LoggingConfig.
	LoggingLevel map[string]zapcore.Level
}

// NewConfigFromMap parses the data of a logging ConfigMap. A level that does
// not parse is an error that names its key.
func NewConfigFromMap(data map[string]string) (*Config, error) {
	cfg := &Config{LoggingConfig: defaultZapConfig, LoggingLevel: map[string]zapcore.Level{}}
	if s, ok := data[zapConfigKey]; ok && strings.TrimSpace(s) != "" {
		cfg.LoggingConfig = s
	}
	for key, value := range data {
		component, ok := strings.CutPrefix(key, levelKeyPrefix)
		if !ok || component == "" || value == "" {
			continue
		}
		level, err := zapcore.ParseLevel(strings.TrimSpace(value))
		if err != nil {
			return nil, fmt.Errorf("key %q: %w", key, err)
		}
		cfg.LoggingLevel[component] = level
	}
	return cfg, nil
}

// NewConfigFromConfigMap is NewConfigFromMap of a ConfigMap; nil gives the defaults.
func NewConfigFromConfigMap(cm *corev1.ConfigMap) (*Config, error) {
	if cm == nil {
		return NewConfigFromMap(nil)
	}
	return NewConfigFromMap(cm.Data)
}

// NewLogger builds a logger from zap's JSON configuration and, unless empty,
// an overriding level. A configuration that does not build gives a production
// logger that reports the error: a process must not die of its log settings.
func NewLogger(configJSON, levelOverride string, opts ...zap.Option) (*zap.SugaredLogger, zap.AtomicLevel) {
	logger, level, err := build(configJSON, levelOverride, opts)
	if err == nil {
		return logger.Sugar(), level
	}
	logger, level, _ = build(defaultZapConfig, "", opts) // a constant of ours, it builds
	logger.Named(fallbackName).Error("The logging configuration does not build", zap.Error(err))
	return logger.Named(fallbackName).Sugar(), level
}

// NewLoggerFromConfig builds the logger of one component.
func NewLoggerFromConfig(cfg *Config, component string, opts ...zap.Option) (*zap.SugaredLogger, zap.AtomicLevel) {
	override := ""
	if level, ok := cfg.LoggingLevel[component]; ok {
		override = level.String()
	}
	logger, level := NewLogger(cfg.LoggingConfig, override, opts...)
	return logger.Named(component), level
}

func build(configJSON, override string, opts []zap.Option) (*zap.Logger, zap.AtomicLevel, error) {
	if configJSON == "" {
		configJSON = defaultZapConfig
	}
	var zc zap.Config
	if err := json.Unmarshal([]byte(configJSON), &zc); err != nil {
		return nil, zap.AtomicLevel{}, fmt.Errorf("parsing zap configuration: %w", err)
	}
	if override != "" {
		level, err := zapcore.ParseLevel(override)
		if err != nil {
			return nil, zap.AtomicLevel{}, err
		}
		zc.Level = zap.NewAtomicLevelAt(level)
	}
	logger, err := zc.Build(opts...)
	if err != nil {
		return nil, zap.AtomicLevel{}, fmt.Errorf("building zap logger: %w", err)
	}
	return logger, zc.Level, nil
}

// UpdateLevelFromConfigMap returns an observer that keeps level at what the
// logging ConfigMap says for component. A ConfigMap that does not parse is
// logged and changes nothing.
func UpdateLevelFromConfigMap(logger *zap.SugaredLogger, level zap.AtomicLevel, component string) func(*corev1.ConfigMap) {
	return func(cm *corev1.ConfigMap) {
		want, err := levelOf(cm, component)
		if err != nil {
			logger.Errorw("The logging ConfigMap does not parse; the level stays", zap.Error(err))
			return
		}
		if old := level.Level(); old != want {
			level.SetLevel(want)
			logger.Infow("Changed the logging level", logkey.Level, want.String(), "from", old.String())
		}
	}
}

func levelOf(cm *corev1.ConfigMap, component string) (zapcore.Level, error) {
	cfg, err := NewConfigFromConfigMap(cm)
	if err != nil {
		return 0, err
	}
	return cfg.Level(component)
}

// Level returns the level of a component: its own, else that of LoggingConfig.
func (c *Config) Level(component string) (zapcore.Level, error) {
	if level, ok := c.LoggingLevel[component]; ok {
		return level, nil
	}
	var zc zap.Config
	if err := json.Unmarshal([]byte(cmp.Or(c.LoggingConfig, defaultZapConfig)), &zc); err != nil {
		return 0, fmt.Errorf("key %q: %w", zapConfigKey, err)
	}
	if zc.Level == (zap.AtomicLevel{}) { // asked for its level, it panics
		return 0, fmt.Errorf("key %q: no level", zapConfigKey)
	}
	return zc.Level.Level(), nil
}

// ConfigToJSON writes cfg in the form that JSONToConfig reads, to hand a
// process its logging configuration in an environment variable.
func ConfigToJSON(cfg *Config) (string, error) {
	if cfg == nil {
		return "", nil
	}
	data := map[string]string{zapConfigKey: cfg.LoggingConfig}
	for component, level := range cfg.LoggingLevel {
		data[levelKeyPrefix+component] = level.String()
	}
	out, err := json.Marshal(data)
	return string(out), err
}

// JSONToConfig reads what ConfigToJSON wrote.
func JSONToConfig(in string) (*Config, error) {
	if in == "" {
		return nil, errors.New("logging configuration is empty")
	}
	var data map[string]string
	if err := json.Unmarshal([]byte(in), &data); err != nil {
		return nil, fmt.Errorf("parsing logging configuration: %w", err)
	}
	return NewConfigFromMap(data)
}
