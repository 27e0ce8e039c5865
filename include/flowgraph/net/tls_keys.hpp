// What the ends of a TLS stream prove each other with: one key of the whole cluster, from which each direction of each
// pair of tasks has its own; or a certificate for each task. TLS 1.3 alone, by OpenSSL.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <flowgraph/core/text_from.hpp>

#include "peer_error.hpp"

namespace flowgraph::detail {

struct ssl_deleter {
  void operator()(SSL_CTX* c) const { SSL_CTX_free(c); }
  void operator()(SSL* s) const { SSL_free(s); }
  void operator()(SSL_SESSION* s) const { SSL_SESSION_free(s); }
  void operator()(EVP_KDF* k) const { EVP_KDF_free(k); }
  void operator()(EVP_KDF_CTX* c) const { EVP_KDF_CTX_free(c); }
  void operator()(X509* c) const { X509_free(c); }
  void operator()(GENERAL_NAMES* n) const { GENERAL_NAMES_free(n); }
  void operator()(BIO_METHOD* m) const { BIO_meth_free(m); }
};
template <class T>
using ssl_handle = std::unique_ptr<T, ssl_deleter>;

inline std::string ssl_reason() {
  const char* const words = ERR_reason_error_string(ERR_peek_last_error());
  std::string why = words != nullptr ? words : "no reason given";
  ERR_clear_error();
  return why;
}

inline constexpr std::size_t least_key_bytes = 16;
// A task's name in its certificate, as a URI among its alternative names.
inline std::string certificate_name(const std::string& cluster, const task_name& t) {
  return "flowgraph://" + cluster + t.text();
}

// HKDF-SHA256(cluster key, label): who records or steals one direction's key has no other.
inline std::array<unsigned char, 32> derive_key(std::string_view cluster_key, std::string_view label) {
  std::array<unsigned char, 32> key{};
  char digest[] = "SHA256", salt[] = "flowgraph cluster 1";
  const ssl_handle<EVP_KDF> kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr));
  const ssl_handle<EVP_KDF_CTX> c(kdf ? EVP_KDF_CTX_new(kdf.get()) : nullptr);
  const OSSL_PARAM p[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, const_cast<char*>(cluster_key.data()), cluster_key.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, salt, sizeof salt - 1),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, const_cast<char*>(label.data()), label.size()),
      OSSL_PARAM_construct_end()};
  if (!c || EVP_KDF_derive(c.get(), key.data(), key.size(), p) != 1)
    throw cluster_error(problem::cluster_key, {"the key: OpenSSL derives none: ", ssl_reason()});
  return key;
}

// Asked while hands are shaken: which label is this end's, or may the other end's be.
class tls_names {
 public:
  virtual const std::string& own_label() = 0;
  virtual bool accepts_label(std::string_view label) = 0;

 protected:
  ~tls_names() = default;
};

// Made once, for all streams of a carrier, which are all of one thread.
class tls_keys {
 public:
  // Throws cluster_error.
  static std::shared_ptr<const tls_keys> of_key(std::string key) {
    if (key.size() < least_key_bytes)
      throw cluster_error(problem::cluster_key, {text_from({"the key has ", key.size(), " bytes"})});
    return std::shared_ptr<const tls_keys>(new tls_keys(std::move(key)));
  }
  // Names of PEM files.
  static std::shared_ptr<const tls_keys> of_certificates(const std::string& certificate, const std::string& private_key,
                                                         const std::string& authorities) {
    std::shared_ptr<tls_keys> k(new tls_keys(std::string()));
    for (SSL_CTX* c : {k->dialling_.get(), k->listening_.get()}) {
      const auto need = [](int done, const char* what, const std::string& file) {
        if (done != 1) throw cluster_error(problem::cluster_certificate, {what, " ", file, ": ", ssl_reason()});
      };
      need(SSL_CTX_use_certificate_chain_file(c, certificate.c_str()), "the certificate", certificate);
      need(SSL_CTX_use_PrivateKey_file(c, private_key.c_str(), SSL_FILETYPE_PEM), "the private key", private_key);
      need(SSL_CTX_load_verify_locations(c, authorities.c_str(), nullptr), "the authorities", authorities);
    }
    return k;
  }

  bool by_key() const { return !key_.empty(); }

  // For one stream; `names` outlives it.
  ssl_handle<SSL> make(bool dials, tls_names& names) const {
    ssl_handle<SSL> s(SSL_new(dials ? dialling_.get() : listening_.get()));
    if (!s) throw std::bad_alloc();
    SSL_set_app_data(s.get(), &names);
    if (dials)
      SSL_set_connect_state(s.get());
    else
      SSL_set_accept_state(s.get());
    return s;
  }

  // The task that the other end's certificate is of, "flowgraph://cluster/job:worker/task:1"; empty: of none.
  static std::string certified_name(const SSL* s) {
    const ssl_handle<X509> c(SSL_get1_peer_certificate(s));
    if (!c) return {};
    const ssl_handle<GENERAL_NAMES> names(
        static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(c.get(), NID_subject_alt_name, nullptr, nullptr)));
    std::string found;
    for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
      const GENERAL_NAME* const n = sk_GENERAL_NAME_value(names.get(), i);
      if (n->type != GEN_URI) continue;
      const ASN1_IA5STRING* const text = n->d.uniformResourceIdentifier;
      const std::string_view uri(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                                 static_cast<std::size_t>(ASN1_STRING_length(text)));
      if (!uri.starts_with("flowgraph://")) continue;
      if (!found.empty()) return {};  // one certificate, one task
      found = uri;
    }
    return found;
  }

 private:
  explicit tls_keys(std::string key) : key_(std::move(key)) {
    for (const bool dials : {true, false}) {
      ssl_handle<SSL_CTX>& c = dials ? dialling_ : listening_;
      c.reset(SSL_CTX_new(dials ? TLS_client_method() : TLS_server_method()));
      if (!c) throw cluster_error(problem::cluster_key, {"OpenSSL: ", ssl_reason()});
      SSL_CTX_set_min_proto_version(c.get(), TLS1_3_VERSION);
      SSL_CTX_set_ciphersuites(c.get(), "TLS_AES_128_GCM_SHA256");
      SSL_CTX_set_num_tickets(c.get(), 0);  // no stream goes on with what another has agreed on
      SSL_CTX_set_session_cache_mode(c.get(), SSL_SESS_CACHE_OFF);
      SSL_CTX_set_mode(c.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
      // By a key nobody has a certificate; who dials refuses any.
      const int mutual = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
      SSL_CTX_set_verify(c.get(), by_key() && !dials ? SSL_VERIFY_NONE : mutual, nullptr);
      SSL_CTX_set_app_data(c.get(), this);
      if (!by_key()) continue;
      if (dials)
        SSL_CTX_set_psk_use_session_callback(c.get(), &tell);
      else
        SSL_CTX_set_psk_find_session_callback(c.get(), &find);
    }
  }

  static tls_names& names_of(SSL* s) { return *static_cast<tls_names*>(SSL_get_app_data(s)); }
  static SSL_SESSION* session_of(SSL* s, std::string_view label) {
    const auto* const keys = static_cast<const tls_keys*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(s)));
    std::array<unsigned char, 32> key = derive_key(keys->key_, label);
    const unsigned char aes_128_gcm_sha256[] = {0x13, 0x01};
    ssl_handle<SSL_SESSION> session(SSL_SESSION_new());
    const bool well = session && SSL_SESSION_set1_master_key(session.get(), key.data(), key.size()) == 1 &&
                      SSL_SESSION_set_cipher(session.get(), SSL_CIPHER_find(s, aes_128_gcm_sha256)) == 1 &&
                      SSL_SESSION_set_protocol_version(session.get(), TLS1_3_VERSION) == 1;
    OPENSSL_cleanse(key.data(), key.size());
    return well ? session.release() : nullptr;
  }
  // Of OpenSSL, which no exception may pass through.
  static int tell(SSL* s, const EVP_MD* digest, const unsigned char** label, std::size_t* bytes,
                  SSL_SESSION** session) noexcept {
    *session = nullptr;
    if (digest != nullptr && EVP_MD_get_type(digest) != NID_sha256) return 1;
    try {
      const std::string& own = names_of(s).own_label();
      *session = session_of(s, own);
      *label = reinterpret_cast<const unsigned char*>(own.data());
      *bytes = own.size();
    } catch (...) {
      return 0;
    }
    return *session != nullptr ? 1 : 0;
  }
  static int find(SSL* s, const unsigned char* label, std::size_t bytes, SSL_SESSION** session) noexcept {
    *session = nullptr;
    const std::string_view text(reinterpret_cast<const char*>(label), bytes);
    try {
      if (names_of(s).accepts_label(text)) *session = session_of(s, text);
    } catch (...) {
      return 0;
    }
    return 1;  // without one: as if no key had been offered, which ends the handshake
  }

  std::string key_;
  ssl_handle<SSL_CTX> dialling_, listening_;
};

}  // namespace flowgraph::detail
